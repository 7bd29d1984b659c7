import { Connection, type RawResponse } from '../../testkit/connection.ts';
import type { Service } from '../../testkit/service.ts';
import { sendInPieces } from '../pieces.ts';

/** A client of one service that keeps its connection until the service closes it. */
export class Client implements Disposable {
  readonly #service: Service;
  #connection: Connection | undefined;

  constructor(service: Service) {
    this.#service = service;
  }

  /**
   * Pipelines requests, in these pieces; when the service closes the connection, sends the remaining ones in one piece
   * over a new one.
   *
   * @returns the responses, in order
   */
  async send(requests: readonly Buffer[], pieces: readonly Buffer[]): Promise<RawResponse[]> {
    const responses: RawResponse[] = [];
    let unsent = pieces;
    while (responses.length < requests.length) {
      this.#connection ??= await Connection.open(this.#service);
      const sent = sendInPieces(this.#connection, unsent);
      let isClosed = false;
      while (!isClosed && responses.length < requests.length) {
        const response = await this.#connection.response();
        responses.push(response);
        isClosed = response.headers.get('connection') === 'close';
      }
      if (isClosed) this[Symbol.dispose]();
      // A body may still be in transit: some requests are answered before their body has arrived.
      await sent;
      unsent = requests.slice(responses.length);
    }
    return responses;
  }

  [Symbol.dispose](): void {
    this.#connection?.[Symbol.dispose]();
    this.#connection = undefined;
  }
}
