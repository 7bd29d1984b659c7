import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type BookPosition,
  type BookQuery,
  type BookStore,
  type SearchPage,
  StoreUnavailable,
} from '../../book/book.ts';
import type { Answer } from '../../http/answer.ts';
import { type Budget, Share } from '../../http/body/memory-budget.ts';
import { writeCursor } from './cursor.ts';
import { CLOSE, COMMA, inBrackets, noPages, OPEN, slices } from './pages.ts';
import { type ListRequest, queryAfter } from './query.ts';

/** Answers `GET /books` with a query: parts of the list, in an order. */
export class Searches {
  readonly #store: BookStore;
  readonly #unread: Budget;
  readonly #waitMs: number;
  #underWay = 0;

  /** How many of them are under way. */
  get underWay(): number {
    return this.#underWay;
  }

  /**
   * @param unread what answers may hold that their clients have not read yet
   * @param waitMs how long a client may wait for its response to begin, and then for the next books
   */
  constructor(store: BookStore, unread: Budget, waitMs: number) {
    this.#store = store;
    this.#unread = unread;
    this.#waitMs = waitMs;
  }

  /** Answers a request, which has been read. */
  async answer(list: ListRequest, request: FastifyRequest, reply: FastifyReply): Promise<Answer> {
    // A client that has left meanwhile reads no response, and its response emits no further 'close'.
    if (reply.raw.closed || this.#underWay >= SEARCHES_MAX) return { outcome: 'serviceUnavailable' };
    this.#underWay++;
    reply.raw.once('close', () => this.#underWay--);
    const search = new Search(this.#store, list.query, reply, this.#waitMs);
    const unread = new Share(this.#unread, reply.raw);
    const total = list.isCounted ? { 'x-total-count': `${await search.count()}` } : {};
    if (list.limit !== undefined)
      return this.#page({ ...list, limit: list.limit }, { search, total, unread, request });

    // As in the plain list, a store that is away can still be answered with its status.
    const first = await search.next(Number.MAX_SAFE_INTEGER, list.after);
    if (!unread.take(first.json.length)) return { outcome: 'serviceUnavailable' };
    if (first.more === 'no')
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
      if (page.more === 'no' || place === undefined)
        return { outcome: 'booksRetrieved', json: inBrackets(pages), headers: total };
      if (page.more === 'yes' && (count === limit || bytes > PAGE_BYTES_MAX)) break;
      if (count > 0 && search.isLate) break;
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

/** A page with a limit ends early when its books are longer than this together. */
const PAGE_BYTES_MAX = 8 * 1_024 * 1_024;

/** One query on its way through the store, until its time is up or its client has gone. */
class Search {
  readonly #store: BookStore;
  readonly #query: BookQuery;
  readonly #waitMs: number;
  readonly #clientGone = new AbortController();
  #startedMs = 0;
  #signal = this.#clientGone.signal;

  constructor(store: BookStore, query: BookQuery, reply: FastifyReply, waitMs: number) {
    this.#store = store;
    this.#query = query;
    this.#waitMs = waitMs;
    const abort = () => this.#clientGone.abort(new StoreUnavailable('the client has gone'));
    if (reply.raw.closed) abort();
    else reply.raw.once('close', abort);
    this.restartWait();
  }

  /** Whether half of the time is over, so that what has been found should leave. */
  get isLate(): boolean {
    return performance.now() - this.#startedMs > this.#waitMs / 2;
  }

  /** The client has got something, and waits for more. */
  restartWait(): void {
    this.#startedMs = performance.now();
    this.#signal = AbortSignal.any([this.#clientGone.signal, AbortSignal.timeout(this.#waitMs)]);
  }

  /** The next page that says what follows. @throws StoreUnavailable when that takes too long */
  async next(limit: number, after: BookPosition | undefined): Promise<SearchPage> {
    for (let place = after; ; ) {
      const page = await this.#inTime((signal) => this.#store.search(this.#query, limit, place, signal));
      if (page.more !== 'unknown' || page.count > 0) return page;
      place = page.last;
    }
  }

  /** The number of all matches. @throws StoreUnavailable when that takes too long */
  async count(): Promise<number> {
    let total = 0;
    let place: BookPosition | undefined;
    do {
      const { count, last } = await this.#inTime((signal) => this.#store.count(this.#query, place, signal));
      total += count;
      place = last;
    } while (place !== undefined);
    return total;
  }

  async #inTime<Result>(call: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const signal = this.#signal;
    try {
      signal.throwIfAborted();
      return await call(signal);
    } catch (error) {
      if (error === signal.reason && !(error instanceof StoreUnavailable))
        throw new StoreUnavailable('a search takes too long');
      throw error;
    }
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
    if (page.more === 'no') break;
    search.restartWait();
  }
  yield CLOSE;
}
