import { type Answer, Connection, request } from '../../test/http/connection.ts';
import { LOGIN, type Service } from '../../test/http/service.ts';

/** How many requests are sent before their answers are read. */
const PIPELINED = 50;

/** A client that comes from an address of its own, over one connection. */
export class Client implements Disposable {
  readonly #connection: Connection;
  readonly #lines: readonly string[];

  private constructor(connection: Connection, lines: readonly string[]) {
    this.#connection = connection;
    this.#lines = lines;
  }

  /**
   * @param localAddress the address of this machine that it comes from
   * @param lines header lines of all of its requests
   */
  static async open({ port }: Service, localAddress: string, lines: readonly string[] = []): Promise<Client> {
    return new Client(await Connection.open({ port, localAddress }), lines);
  }

  /** Logs in with the right pair. */
  async logIn(): Promise<Answer> {
    const [answer] = await Array.fromAsync(this.send(LOGIN, 1));
    return answer as Answer;
  }

  /** Sends the same body to POST /token many times, and yields the answers. */
  async *send(body: string, count: number): AsyncGenerator<Answer> {
    const bytes = request('POST /token', this.#lines, body);
    for (let sent = 0; sent < count; sent += PIPELINED) {
      const expected = Math.min(PIPELINED, count - sent);
      await this.#connection.send(bytes.repeat(expected));
      for (let answered = 0; answered < expected; answered++) yield await this.#connection.answer();
    }
  }

  [Symbol.dispose](): void {
    this.#connection[Symbol.dispose]();
  }
}
