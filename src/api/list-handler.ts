import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BookPage, BookStore } from '../book/book-store.ts';
import { type MemoryBudget, Reservation } from '../http/body/memory-budget.ts';
import { noContent, streamArray, toArray } from '../http/json-array.ts';
import type { HttpResult } from '../http/response.ts';

/** The memory that is reserved for a longer list, of which only one page is in memory at a time. */
const LIST_BYTES_MAX = 256 * 1_024;

/** The most books in the first page of the whole list, so that the response begins soon. */
const FIRST_PAGE_BOOKS_MAX = 500;
/** The most books in a later page; it bounds the latency of other calls and the garbage that a list creates. */
const LATER_PAGE_BOOKS_MAX = 2_000;

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
    const first = await this.#store.list(undefined, FIRST_PAGE_BOOKS_MAX);
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
    let page = first;
    let limit = FIRST_PAGE_BOOKS_MAX;
    let { length } = first.json;
    while (page.last !== undefined) {
      const { json, last } = page;
      limit = nextLimit(limit, json.length);
      yield json;
      for (let turn = 0; turn < TURNS_BETWEEN_PAGES; turn++) await nextTurn();
      page = await this.#store.list(last, limit);
      unread.resize(Math.max(this.#listBytes, page.json.length));
      length += page.json.length;
    }
    yield page.json;
    this.#rememberLength(length);
  }

  #rememberLength(listBytes: number): void {
    this.#listBytes = Math.min(LIST_BYTES_MAX, listBytes);
  }
}

/**
 * Pages grow while the next one probably fits into {@link LIST_BYTES_MAX}: 500, 1,000, 2,000, 2,000, … books of 100 bytes, but
 * 500, 500, … of 300 bytes.
 */
function nextLimit(limit: number, pageBytes: number): number {
  if (pageBytes > LIST_BYTES_MAX) return FIRST_PAGE_BOOKS_MAX;
  return 2 * pageBytes <= LIST_BYTES_MAX ? Math.min(2 * limit, LATER_PAGE_BOOKS_MAX) : limit;
}
