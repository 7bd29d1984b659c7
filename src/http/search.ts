import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type BookPosition,
  type BookQuery,
  type BookStore,
  type SearchPage,
  StoreUnavailable,
} from '../book.ts';
import type { Answer } from './answer.ts';
import { type Budget, Share } from './budget.ts';
import { writeCursor } from './cursor.ts';
import { CLOSE, COMMA, inBrackets, noPages, OPEN, slices } from './pages.ts';
import { type ListRequest, queryAfter } from './query.ts';

/** Answers `GET /books` with a query: parts of the list, in an order. */
export class Searches {
  readonly #store: BookStore;
  readonly #unread: Budget;
  #underWay = 0;

  /** How many of them are under way. */
  get underWay(): number {
    return this.#underWay;
  }

  /** @param unread what answers may hold that their clients have not read yet */
  constructor(store: BookStore, unread: Budget) {
    this.#store = store;
    this.#unread = unread;
  }

  /** Answers a request, which has been read. */
  async answer(list: ListRequest, request: FastifyRequest, reply: FastifyReply): Promise<Answer> {
    // A client that has left meanwhile reads no response, and its response emits no further 'close'.
    if (reply.raw.closed || this.#underWay >= SEARCHES_MAX) return { outcome: 'serviceUnavailable' };
    this.#underWay++;
    reply.raw.once('close', () => this.#underWay--);
    const search = new Search(this.#store, list.query, reply);
    const unread = new Share(this.#unread, reply.raw);
    const total = list.isCounted ? { 'x-total-count': `${await search.count()}` } : {};
    if (list.limit !== undefined)
      return this.#page({ ...list, limit: list.limit }, { search, total, unread, request });

    // As in the plain list, a store that is away can still be answered with its status.
    const first = await search.next(Number.MAX_SAFE_INTEGER, list.after);
    if (!unread.take(first.json.length)) return { outcome: 'serviceUnavailable' };
    if (first.rest === 'none')
      return { outcome: 'booksRetrieved', json: inBrackets([first.json]), headers: total };
    const isHead = request.method === 'HEAD';
    return {
      outcome: 'booksRetrieved',
      json: isHead ? noPages() : allPages(search, first, unread),
      headers: total,
    };
  }

  /** One page with a limit. It is there as a whole before its headers, which lead to the next one. */
  async #page(
    { sort, limit, after }: ListRequest & { limit: number },
    { search, total, unread, request }: PageParts,
  ): Promise<Answer> {
    const pages: Uint8Array[] = [];
    let [count, bytes] = [0, 0];
    let place = after;
    for (;;) {
      const page = await search.next(limit - count, place);
      pages.push(page.json);
      count += page.count;
      bytes += page.json.length;
      place = page.last;
      if (!unread.take(2 * bytes)) return { outcome: 'serviceUnavailable' };
      if (page.rest === 'none' || place === undefined)
        return { outcome: 'booksRetrieved', json: inBrackets(pages), headers: total };
      if (page.rest === 'some' && (count === limit || bytes > PAGE_BYTES_MAX)) break;
    }
    const next = queryAfter(request.raw.url ?? '', writeCursor(sort, place));
    return {
      outcome: 'booksRetrieved',
      json: inBrackets(pages),
      headers: { ...total, link: `</books?${next}>; rel="next"` },
    };
  }
}

interface PageParts {
  readonly search: Search;
  readonly total: Readonly<Record<string, string>>;
  readonly unread: Share;
  readonly request: FastifyRequest;
}

/** How many searches may be under way at once. */
const SEARCHES_MAX = 500;

/** How long a client may wait for the next books of a search, or their number. */
const SEARCH_MS_MAX = 10_000;

/** A page with a limit ends early when its books are longer than this together. */
const PAGE_BYTES_MAX = 8 * 1_024 * 1_024;

/** One query on its way through the store, until its time is up or its client has gone. */
class Search {
  readonly #store: BookStore;
  readonly #query: BookQuery;
  readonly #reply: FastifyReply;

  constructor(store: BookStore, query: BookQuery, reply: FastifyReply) {
    this.#store = store;
    this.#query = query;
    this.#reply = reply;
  }

  /** The next page that says what follows. @throws StoreUnavailable when that takes too long */
  async next(limit: number, after: BookPosition | undefined): Promise<SearchPage> {
    const deadline = performance.now() + SEARCH_MS_MAX;
    let page = await this.#store.search(this.#query, limit, after);
    while (page.rest === 'unknown' && page.count === 0) {
      this.#goOn(deadline);
      page = await this.#store.search(this.#query, limit, page.last);
    }
    return page;
  }

  /** The number of all matches. @throws StoreUnavailable when that takes too long */
  async count(): Promise<number> {
    const deadline = performance.now() + SEARCH_MS_MAX;
    let { count, last } = await this.#store.count(this.#query);
    while (last !== undefined) {
      this.#goOn(deadline);
      const more = await this.#store.count(this.#query, last);
      count += more.count;
      last = more.last;
    }
    return count;
  }

  #goOn(deadline: number): void {
    if (performance.now() > deadline) throw new StoreUnavailable('a search takes too long');
    if (this.#reply.raw.destroyed) throw new StoreUnavailable('the client has gone');
  }
}

async function* allPages(search: Search, first: SearchPage, unread: Share): AsyncGenerator<Uint8Array> {
  yield OPEN;
  let isFirst = true;
  for (let page = first; ; page = await search.next(Number.MAX_SAFE_INTEGER, page.last)) {
    unread.hold(page.json.length);
    if (page.count > 0) {
      if (!isFirst) yield COMMA;
      yield* slices(page.json);
      isFirst = false;
    }
    if (page.rest === 'none') break;
  }
  yield CLOSE;
}
