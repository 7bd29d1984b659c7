import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BookPage, BookStore } from '../book/book-store.ts';
import { type MemoryBudget, Reservation } from '../http/body/memory-budget.ts';
import { noContent, streamArray, toArray } from '../http/json-array.ts';
import type { HttpResult } from '../http/response.ts';

/** The length that later pages aim at: after 500 books of 90 bytes, the next page has 1,183. */
const PAGE_BYTES = 104 * 1_024;
/** The memory that is reserved for a longer list, of which two pages are in memory at a time. */
const LIST_BYTES_MAX = 256 * 1_024;

/** The most books in the first page of the whole list, so that the response begins soon. */
const FIRST_PAGE_BOOKS_MAX = 500;
/** The most books in a later page; it bounds the latency of other calls and the garbage that a list creates. */
const LATER_PAGE_BOOKS_MAX = 2_000;
/** The least of them, as each page is a statement. */
const LATER_PAGE_BOOKS_MIN = 50;

/** GET /books: all books in order of id. */
export class ListHandler {
  readonly #store: BookStore;
  readonly #unreadBudget: MemoryBudget;
  /**
   * The length of the last list, at most {@link LIST_BYTES_MAX}. A list reserves it before its first page, so that not more lists
   * start than can finish: of long lists, 128 in a budget of 32 MiB.
   */
  #lastListBytes = 0;

  /** @param unreadBudget the memory of responses that clients have not read yet */
  constructor(store: BookStore, unreadBudget: MemoryBudget) {
    this.#store = store;
    this.#unreadBudget = unreadBudget;
  }

  readonly handle = async ({ method }: FastifyRequest, reply: FastifyReply): Promise<HttpResult> => {
    const reservation = new Reservation(this.#unreadBudget, reply.raw);
    if (!reservation.tryResize(this.#lastListBytes)) return { outcome: 'serviceUnavailable' };
    // The first page is read before the headers are sent, so that an unavailable store is still a 503.
    const first = await this.#store.list(undefined, FIRST_PAGE_BOOKS_MAX);
    if (!reservation.tryResize(Math.max(this.#lastListBytes, first.json.length)))
      return { outcome: 'serviceUnavailable' };
    if (first.last === undefined) {
      this.#rememberLength(first.json.length);
      return { outcome: 'booksRetrieved', json: toArray([first.json]) };
    }
    const json = method === 'HEAD' ? noContent() : streamArray(this.#allPages(first, reservation));
    return { outcome: 'booksRetrieved', json };
  };

  /** While the client reads a page, the store reads the next one. */
  async *#allPages(first: BookPage, reservation: Reservation): AsyncGenerator<Uint8Array> {
    let page = first;
    let limit = FIRST_PAGE_BOOKS_MAX;
    let { length } = first.json;
    while (page.last !== undefined) {
      const { json, last } = page;
      limit = nextLimit(limit, json.length);
      const next = this.#readAfter(last, limit, json.length, reservation);
      next.catch(() => {}); // The client may disconnect before the generator awaits it.
      yield json;
      page = await next;
      length += page.json.length;
    }
    yield page.json;
    this.#rememberLength(length);
  }

  /** @param bytesBefore the length of the page that the client reads meanwhile */
  async #readAfter(
    after: number,
    limit: number,
    bytesBefore: number,
    reservation: Reservation,
  ): Promise<BookPage> {
    const page = await this.#store.list(after, limit);
    reservation.resize(Math.max(this.#lastListBytes, bytesBefore + page.json.length));
    return page;
  }

  #rememberLength(listBytes: number): void {
    this.#lastListBytes = Math.min(LIST_BYTES_MAX, listBytes);
  }
}

/**
 * As many books as take about {@link PAGE_BYTES}, if they are as long as those of the page before: after 500 books with 500,000
 * bytes, 106.
 */
function nextLimit(limit: number, pageBytes: number): number {
  return Math.max(
    LATER_PAGE_BOOKS_MIN,
    Math.min(Math.floor((limit * PAGE_BYTES) / pageBytes), LATER_PAGE_BOOKS_MAX),
  );
}
