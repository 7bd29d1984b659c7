import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BookPage, BookStore } from '../book/book-store.ts';
import { type MemoryBudget, Reservation } from '../http/body/memory-budget.ts';
import { noContent, streamArray, toArray } from '../http/json-array.ts';
import type { HttpResult } from '../http/response.ts';

/** The length that later pages of the whole list aim at: after 500 books of 90 bytes, the next page has 1,183. */
const LATER_PAGE_BYTES = 104 * 1_024;
/** The length of a first page of several books, and of a single one. */
const PAGE_BYTES_MAX = 1_024 * 1_024;
/** The most statements for one of these, until its length is right. */
const READS_MAX = 5;
/** The books that are read while it is not known how long they are: some of an older store may have 1 MiB. */
const FIRST_READ_BOOKS = 10;
/** The memory that is reserved for a longer list, of which two pages are in memory at a time. */
const LIST_BYTES_MAX = 256 * 1_024;

/** The most books in the first page of the whole list, so that the response begins soon. */
const FIRST_PAGE_BOOKS_MAX = 500;
/** The most books in a later page; it bounds the latency of other calls and the garbage that a list creates. */
const LATER_PAGE_BOOKS_MAX = 2_000;

/** GET /books: all books in order of id, and single pages of them. */
export class ListHandler {
  readonly #store: BookStore;
  readonly #unreadBudget: MemoryBudget;
  /**
   * The length of the last list, at most {@link LIST_BYTES_MAX}. A list reserves it before its first page, so that not more lists
   * start than can finish: of long lists, 128 in a budget of 32 MiB.
   */
  #lastListBytes = 0;
  /** The books that have {@link PAGE_BYTES_MAX}, as far as known. */
  #booksThatFit = FIRST_READ_BOOKS;

  /** @param unreadBudget the memory of responses that clients have not read yet */
  constructor(store: BookStore, unreadBudget: MemoryBudget) {
    this.#store = store;
    this.#unreadBudget = unreadBudget;
  }

  readonly handle = async ({ method }: FastifyRequest, reply: FastifyReply): Promise<HttpResult> => {
    const reservation = new Reservation(this.#unreadBudget, reply.raw);
    if (!reservation.tryResize(this.#lastListBytes)) return { outcome: 'serviceUnavailable' };
    // The first page is read before the headers are sent, so that an unavailable store is still a 503.
    const first = await this.readPage(undefined, FIRST_PAGE_BOOKS_MAX);
    if (!reservation.tryResize(Math.max(this.#lastListBytes, first.json.length)))
      return { outcome: 'serviceUnavailable' };
    if (first.last === undefined) {
      this.#rememberLength(first.json.length);
      return { outcome: 'booksRetrieved', json: toArray([first.json]) };
    }
    const json =
      method === 'HEAD' ? noContent() : streamArray(this.#allPages(first, first.books, reservation));
    return { outcome: 'booksRetrieved', json };
  };

  /**
   * A page of at most `limit` books after an id, of one moment; of fewer, where they have more than {@link PAGE_BYTES_MAX}.
   *
   * @returns the page, and the most books that it could have
   */
  async readPage(after: number | undefined, limit: number): Promise<BookPage & { readonly books: number }> {
    let most = limit;
    for (let reads = 1; ; reads++) {
      const books = Math.min(most, this.#booksThatFit);
      const page = await this.#store.list(after, books);
      const { length } = page.json;
      if (length > 0) this.#booksThatFit = this.#estimate(books, length);
      if (length > PAGE_BYTES_MAX) most = Math.min(books, this.#booksThatFit);
      const isTooLong = books > most;
      const isShort = books < most && page.last !== undefined && length < PAGE_BYTES_MAX / 2;
      if (!(isTooLong || isShort) || reads === READS_MAX) return { ...page, books };
    }
  }

  /** Of books as long as the last ones; a few short ones say little, so an estimate grows to ten times their number at most. */
  #estimate(books: number, length: number): number {
    return Math.min(booksIn(PAGE_BYTES_MAX, books, length), Math.max(this.#booksThatFit, 10 * books));
  }

  /** While the client reads a page, the store reads the next one. */
  async *#allPages(first: BookPage, books: number, reservation: Reservation): AsyncGenerator<Uint8Array> {
    let page = first;
    let limit = books;
    let { length } = first.json;
    while (page.last !== undefined) {
      const { json, last } = page;
      limit = Math.min(booksIn(LATER_PAGE_BYTES, limit, json.length), LATER_PAGE_BOOKS_MAX);
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

/** The number of books, at least one, that have so many bytes if `books` have `length`: 106 in 106,496 bytes, if 500 have 500,000. */
function booksIn(bytes: number, books: number, length: number): number {
  return Math.max(1, Math.floor((books * bytes) / length));
}
