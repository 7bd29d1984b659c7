import type { FastifyReply, FastifyRequest } from 'fastify';
import { type BookStore, type ListPage, PAGE_BYTES_MAX } from '../book/book-store.ts';
import { noContent, streamArray, toArray } from '../http/json-array.ts';
import type { HttpResult } from '../http/response.ts';
import { type UnreadLimits, UnreadResponse } from './unread-response.ts';

/**
 * The first page of the whole list, and the length of later ones. The number of books bounds the latency of other calls and the garbage
 * that a list creates; the length the memory, which has two pages of a list: so 128 longer lists can be sent in a budget of 32 MiB.
 */
const LIST_PAGE = { books: 700, bytes: 128 * 1_024 };
/** The most books of a later page: with 1,050 a list of 10,000 books takes 10 pages, with 700 15, and with 1,100 each is slower. */
const LATER_PAGE_BOOKS = 1_050;
/**
 * The length that a later page aims at, by that of the last one: a page that ends at a number of books takes the store less than a full
 * one. For example: 700 books have 70,000 bytes, so the next page has 1,050 books, which may have 105,000; 700 that have 126,000 are
 * followed by 592, as 700 more might not fit.
 */
const LATER_PAGE_BYTES = 104 * 1_024;

/** GET /books: all books in order of id, and single pages of them. */
export class ListHandler {
  readonly #store: BookStore;
  readonly #unread: UnreadLimits;

  constructor(store: BookStore, unread: UnreadLimits) {
    this.#store = store;
    this.#unread = unread;
  }

  readonly handle = async ({ method }: FastifyRequest, reply: FastifyReply): Promise<HttpResult> => {
    const response = new UnreadResponse(this.#unread, reply);
    // The first page is read before the headers are sent, so that an unavailable store is still a 503.
    const begin = () => response.expectRoom(LIST_PAGE.bytes);
    const first = await this.#store.list(undefined, { ...LIST_PAGE, begin });
    if (first.last === undefined) {
      response.hold(first.json.length);
      return { outcome: 'booksRetrieved', json: toArray([first.json]) };
    }
    if (method === 'HEAD') return { outcome: 'booksRetrieved', json: noContent() };
    response.hold(Math.max(2 * LIST_PAGE.bytes, first.json.length));
    return { outcome: 'booksRetrieved', json: streamArray(this.#allPages(first, response)) };
  };

  /**
   * A page of at most `limit` books after an id, of one moment; of fewer, where they have more than {@link PAGE_BYTES_MAX}.
   *
   * @throws StoreUnavailable
   */
  async readPage(after: number | undefined, limit: number, reply: FastifyReply): Promise<ListPage> {
    const response = new UnreadResponse(this.#unread, reply);
    const begin = () => response.expectRoom(PAGE_BYTES_MAX);
    const page = await this.#store.list(after, { books: limit, begin });
    response.hold(page.json.length);
    return page;
  }

  /** While the client reads a page, the store reads the next one. */
  async *#allPages(first: ListPage, response: UnreadResponse): AsyncGenerator<Uint8Array> {
    const begin = () => response.expectClient();
    let { books } = LIST_PAGE;
    for (let page = first; ; ) {
      books = Math.min(LATER_PAGE_BOOKS, Math.ceil((books * LATER_PAGE_BYTES) / page.json.length));
      const next =
        page.last === undefined
          ? undefined
          : this.#store.list(page.last, { bytes: LIST_PAGE.bytes, books, begin });
      next?.catch(() => {}); // The client may disconnect before the generator awaits it.
      const { json, free } = page;
      const { length } = json;
      yield json;
      if (!next) return;
      page = await next;
      // A slow client's pages are left to the garbage collection.
      if (response.isWritten) free?.();
      // Only a book that another program has stored is longer than a page.
      response.hold(Math.max(2 * LIST_PAGE.bytes, length + page.json.length));
    }
  }
}
