import { type Answer, Connection } from '../../test/http/connection.ts';
import type { Service } from '../../test/http/service.ts';
import { sendInPieces } from '../pieces.ts';

/** A client of one service, which keeps its connection for as long as the service does. */
export class Caller implements Disposable {
  readonly #service: Service;
  #connection: Connection | undefined;

  constructor(service: Service) {
    this.#service = service;
  }

  /**
   * Sends requests without waiting for answers, in these pieces or, once the service has ended the connection, those that
   * are left in one.
   *
   * @returns their answers, in order
   */
  async send(requests: readonly Buffer[], pieces: readonly Buffer[]): Promise<Answer[]> {
    const answers: Answer[] = [];
    let waiting = pieces;
    while (answers.length < requests.length) {
      this.#connection ??= await Connection.open(this.#service);
      const sent = sendInPieces(this.#connection, waiting);
      let isOver = false;
      while (!isOver && answers.length < requests.length) {
        const answer = await this.#connection.answer();
        answers.push(answer);
        isOver = answer.headers.get('connection') === 'close';
      }
      if (isOver) this[Symbol.dispose]();
      // The last body may still be on its way, as not every request is answered after its body.
      await sent;
      waiting = requests.slice(answers.length);
    }
    return answers;
  }

  [Symbol.dispose](): void {
    this.#connection?.[Symbol.dispose]();
    this.#connection = undefined;
  }
}
