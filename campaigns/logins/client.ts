import { Connection, type RawResponse, request } from '../../testkit/connection.ts';
import { LOGIN, type Service } from '../../testkit/service.ts';

/** How many requests are sent before their responses are read. */
const PIPELINED = 50;

/** A client with its own address and one connection. */
export class Client implements Disposable {
  readonly #connection: Connection;
  readonly #lines: readonly string[];

  private constructor(connection: Connection, lines: readonly string[]) {
    this.#connection = connection;
    this.#lines = lines;
  }

  /**
   * @param localAddress its address, which is one of this machine
   * @param lines header lines of all its requests
   */
  static async open({ port }: Service, localAddress: string, lines: readonly string[] = []): Promise<Client> {
    return new Client(await Connection.open({ port, localAddress }), lines);
  }

  /** Sends a valid login. */
  async logIn(): Promise<RawResponse> {
    const [response] = await Array.fromAsync(this.send(LOGIN, 1));
    return response as RawResponse;
  }

  /** Sends the same body to POST /token many times, and yields the responses. */
  async *send(body: string, count: number): AsyncGenerator<RawResponse> {
    const bytes = request('POST /token', this.#lines, body);
    for (let sent = 0; sent < count; sent += PIPELINED) {
      const expected = Math.min(PIPELINED, count - sent);
      await this.#connection.send(bytes.repeat(expected));
      for (let answered = 0; answered < expected; answered++) yield await this.#connection.response();
    }
  }

  [Symbol.dispose](): void {
    this.#connection[Symbol.dispose]();
  }
}
