import { setTimeout as sleep } from 'node:timers/promises';
import { makeToken } from '../../conformance/tokens.ts';
import { Connection, request } from '../../test/http/connection.ts';
import type { Target } from '../book-client.ts';

/** Clients that do whatever keeps a service from ending, until it has ended. Disposing sends them away. */
export class Nuisances implements Disposable {
  readonly #connections: Connection[] = [];
  #isOver = false;

  /** Resolves when each of them has begun. */
  static async arrive(target: Target): Promise<Nuisances> {
    const nuisances = new Nuisances();
    const authorization = `Authorization: ${makeToken(target.secret, {})}`;
    const list = request('GET /books', [authorization]);
    for (const [bytes, drop] of [
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
      nuisances.#connections.push(connection);
      // One that reads nothing does not take everything, either.
      void connection.send(bytes);
      if (drop !== '') void nuisances.#drip(connection, drop);
    }
    return nuisances;
  }

  /** How many connections they have. */
  get count(): number {
    return this.#connections.length;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    for (const connection of this.#connections) connection[Symbol.dispose]();
  }

  async #drip(connection: Connection, drop: string): Promise<void> {
    while (!this.#isOver && !connection.isBroken) {
      void connection.send(drop);
      await sleep(20);
    }
  }
}
