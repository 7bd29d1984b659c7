import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, request } from '../../testkit/connection.ts';
import { authorizationLine, type Target } from '../book-client.ts';

/** Clients that try to keep a service from exiting. Disposing closes their connections. */
export class ObstructiveClients implements Disposable {
  readonly #connections: Connection[] = [];
  #isStopped = false;

  /** Resolves when all are connected. */
  static async connect(target: Target): Promise<ObstructiveClients> {
    const clients = new ObstructiveClients();
    const authorization = authorizationLine(target.secret);
    const list = request('GET /books', [authorization]);
    for (const [bytes, repeated] of [
      ['', ''],
      ['GET /books HTTP/1.1\r\nHost:', ''],
      ['GET /books HTTP/1.1\r\nHost: localhost\r\n', 'Name: value\r\n'],
      [request('POST /book', [authorization, 'Content-Length: 1000']), ''],
      [request('POST /book', [authorization, 'Content-Length: 1000000']), 'x'],
      [request('POST /token', ['Transfer-Encoding: chunked']), '1\r\nx\r\n'],
      [request('POST /book', [authorization, 'Expect: 100-continue', 'Content-Length: 2']), ''],
      [list, ''],
      [list.repeat(1_000), ''],
      ['', request('GET /nowhere').repeat(100)],
      [request('CONNECT elsewhere:443'), 'x'],
      ['nonsense\r\n\r\n', 'x'],
    ] as const) {
      const connection = await Connection.open(target);
      clients.#connections.push(connection);
      // A service that is not read may not read everything.
      void connection.send(bytes);
      if (repeated !== '') void clients.#repeat(connection, repeated);
    }
    return clients;
  }

  /** The number of connections. */
  get count(): number {
    return this.#connections.length;
  }

  [Symbol.dispose](): void {
    this.#isStopped = true;
    for (const connection of this.#connections) connection[Symbol.dispose]();
  }

  async #repeat(connection: Connection, repeated: string): Promise<void> {
    while (!this.#isStopped && !connection.isBroken) {
      void connection.send(repeated);
      await sleep(20);
    }
  }
}
