import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BookPage, BookStore } from '../book/book-store.ts';
import { type MemoryBudget, Reservation } from '../http/body/memory-budget.ts';
import { noContent, streamArray, toArray } from '../http/json-array.ts';
import type { HttpResult } from '../http/response.ts';

/** The memory that is reserved for a longer list, of which only one page is in memory at a time. */
const LIST_BYTES_MAX = 256 * 1_024;

/** Turns of the event loop for other requests between two pages of the whole list. */
const TURNS_BETWEEN_PAGES = 4;

/** GET /books: all books in order of id. */
export class ListHandler {
  readonly #store: BookStore;
  readonly #unread: MemoryBudget;
  /** The memory that a list reserves at first: the length of the last one, so that not more lists start than can finish. */
  #listBytes = 0;

  /** @param unread the memory of responses that clients have not read yet */
  constructor(store: BookStore, unread: MemoryBudget) {
    this.#store = store;
    this.#unread = unread;
  }

  readonly handle = async ({ method }: FastifyRequest, reply: FastifyReply): Promise<HttpResult> => {
    const unread = new Reservation(this.#unread, reply.raw);
    if (!unread.tryResize(this.#listBytes)) return { outcome: 'serviceUnavailable' };
    // The first page is read before the headers are sent, so that an unavailable store is still a 503.
    const first = await this.#store.list();
    if (!unread.tryResize(Math.max(this.#listBytes, first.json.length)))
      return { outcome: 'serviceUnavailable' };
    if (first.last === undefined) {
      this.#rememberLength(first.json.length);
      return { outcome: 'booksRetrieved', json: toArray([first.json]) };
    }
    const json = method === 'HEAD' ? noContent() : streamArray(this.#allPages(first, unread));
    return { outcome: 'booksRetrieved', json };
  };

  async *#allPages(first: BookPage, unread: Reservation): AsyncGenerator<Uint8Array> {
    yield first.json;
    let { last } = first;
    let length = first.json.length;
    while (last !== undefined) {
      for (let turn = 0; turn < TURNS_BETWEEN_PAGES; turn++) await nextTurn();
      const page = await this.#store.list(last);
      unread.resize(Math.max(this.#listBytes, page.json.length));
      yield page.json;
      last = page.last;
      length += page.json.length;
    }
    this.#rememberLength(length);
  }

  #rememberLength(listBytes: number): void {
    this.#listBytes = Math.min(LIST_BYTES_MAX, listBytes);
  }
}
