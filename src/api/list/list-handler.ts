import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BookPage, BookStore, SearchPage } from '../../book/book-store-interface.ts';
import { Invalid } from '../../book/invalid.ts';
import { type MemoryBudget, Reservation } from '../../http/body/memory-budget.ts';
import type { HttpResult } from '../../http/response.ts';
import { writeCursor } from './cursor.ts';
import { noContent, streamArray, toArray } from './pages.ts';
import { type ListRequest, queryAfter, readListRequest } from './query.ts';
import { Search } from './search.ts';

/** The number of concurrent searches. */
const SEARCHES_MAX = 500;

/** The memory that is reserved for a longer list, of which only one page is in memory at a time. */
const LIST_BYTES_MAX = 256 * 1_024;

/** Turns of the event loop for other requests between two pages of the whole list. */
const TURNS_BETWEEN_PAGES = 4;

/** GET /books: all books in order of id, or those of a query. */
export class ListHandler {
  readonly #store: BookStore;
  readonly #unread: MemoryBudget;
  readonly #searchMs: number;
  /** The number of searches that are running or being sent. */
  searches = 0;
  /** The memory that a list reserves at first: the length of the last one, so that not more lists start than can finish. */
  #listBytes = 0;

  /** @param unread the memory of responses that clients have not read yet */
  constructor(store: BookStore, unread: MemoryBudget, searchMs: number) {
    this.#store = store;
    this.#unread = unread;
    this.#searchMs = searchMs;
  }

  readonly handle = async (request: FastifyRequest, reply: FastifyReply): Promise<HttpResult> => {
    const list = readListRequest(request.raw.url ?? '');
    if (list instanceof Invalid) return { outcome: 'invalidQuery', detail: list.detail };
    return list ? this.#search(list, request, reply) : this.#listAll(request, reply);
  };

  async #listAll({ method }: FastifyRequest, reply: FastifyReply): Promise<HttpResult> {
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
  }

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

  async #search(list: ListRequest, request: FastifyRequest, reply: FastifyReply): Promise<HttpResult> {
    // The response to a client that has disconnected emits no further 'close'.
    if (reply.raw.closed || this.searches >= SEARCHES_MAX) return { outcome: 'serviceUnavailable' };
    this.searches++;
    reply.raw.once('close', () => this.searches--);
    const search = new Search(this.#store, list.query, reply, this.#searchMs);
    const unread = new Reservation(this.#unread, reply.raw);
    const headers = list.isCounted ? await countMatches(search, list) : {};
    // As in the whole list, an unavailable store is still a 503.
    const first = await search.next(list.limit ?? Number.MAX_SAFE_INTEGER, list.after);
    if (!unread.tryResize(2 * first.json.length)) return { outcome: 'serviceUnavailable' };
    if (list.limit !== undefined || first.more === 'no') {
      const json = toArray([first.json]);
      if (first.more === 'no' || !first.last) return { outcome: 'booksRetrieved', json, headers };
      const next = queryAfter(request.raw.url ?? '', writeCursor(list.sort, first.last));
      const link = `</books?${next}>; rel="next"`;
      return { outcome: 'booksRetrieved', json, headers: { ...headers, link } };
    }
    const json = request.method === 'HEAD' ? noContent() : streamArray(allMatches(search, first, unread));
    return { outcome: 'booksRetrieved', json, headers };
  }
}

/** The headers of a list with `count`. */
async function countMatches(search: Search, { query, after, isFrom }: ListRequest) {
  const total = await search.count();
  const offset = isFrom ? await search.countUpTo(after, total) : query.skip;
  return {
    'x-total-count': `${total}`,
    ...(offset !== undefined && { 'x-offset': `${Math.min(offset, total)}` }),
  };
}

async function* allMatches(
  search: Search,
  first: SearchPage,
  unread: Reservation,
): AsyncGenerator<Uint8Array> {
  for (let page = first; ; page = await search.next(Number.MAX_SAFE_INTEGER, page.last)) {
    unread.resize(page.json.length);
    yield page.json;
    if (page.more === 'no') return;
    search.restartWait();
  }
}
