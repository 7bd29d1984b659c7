import assert from 'node:assert/strict';
import type { Book } from '../../../src/book.ts';
import type { Answer } from '../../http/connection.ts';
import type { HostileRequest } from './requests.ts';

/** The books that there are by what was answered. */
export class Books {
  readonly #books = new Map<number, Book>();

  /** Notes what an answer says of a book, and asserts that it can be so. */
  note({ method, path }: HostileRequest, { status, body }: Answer): void {
    const id = Number(/^\/book\/([0-9]+|%31)[ \t]*(?:\?.*)?$/.exec(path)?.[1]?.replace('%31', '1'));
    if (path === '/token') return;
    if (status === 404) {
      assert.ok(!this.#books.has(id), 'there is such a book');
    } else if (method === 'DELETE' && status === 200) {
      assert.ok(this.#books.delete(id), 'there was no such book');
    } else if (status < 300) {
      const { data } = JSON.parse(body) as { data: Book };
      assert.deepEqual(Object.keys(data), ['id', 'title', 'author', 'year']);
      if (method === 'POST') assert.ok(!this.#books.has(data.id), 'the id of another book');
      if (method === 'GET') assert.deepEqual(data, this.#books.get(id));
      this.#books.set(data.id, data);
    }
  }

  /** Asserts that these books are stored, each by itself and all in the list, and no others. */
  async assertStored(ask: (requests: readonly HostileRequest[]) => Promise<Answer[]>): Promise<void> {
    const [list, ...each] = await ask([
      read('/books'),
      ...this.#books.keys().map((id) => read(`/book/${id}`)),
    ]);
    const books = [...this.#books.values()];
    assert.deepEqual(each.map(dataOf), books);
    assert.deepEqual(
      list && dataOf(list),
      books.toSorted((one, other) => one.id - other.id),
    );
  }
}

function read(path: string): HostileRequest {
  return { method: 'GET', path, token: undefined, lines: [], body: new Uint8Array(), isChunked: false };
}

function dataOf({ body }: Answer): unknown {
  return (JSON.parse(body) as { data: unknown }).data;
}
