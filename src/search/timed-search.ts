import type { FastifyReply } from 'fastify';
import { StoreUnavailable } from '../book/book-store.ts';
import { onClose } from '../http/connections/node-response.ts';
import type { BookPosition, BookSearch, SearchPage, SearchQuery } from './book-search.ts';

/** Runs one query, until it takes too long or the client disconnects. */
export class TimedSearch {
  readonly #search: BookSearch;
  #query: SearchQuery;
  readonly #waitMs: number;
  /** Costs less than the signals of `AbortSignal.any` and `AbortSignal.timeout`. */
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  /** @param waitMs the time that the client may wait for the next part of the response */
  constructor(search: BookSearch, query: SearchQuery, reply: FastifyReply, waitMs: number) {
    this.#search = search;
    this.#query = query;
    this.#waitMs = waitMs;
    this.restartWait();
    onClose(reply, (isSent) => {
      clearTimeout(this.#timer);
      if (!isSent) this.#abort('the client has disconnected');
    });
  }

  /** Restarts the time, when the client has received a part of the response. */
  restartWait(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#abort('a search takes too long'), this.#waitMs);
  }

  /** The next page, which is empty only when no book follows. @throws StoreUnavailable when that takes too long */
  async next(limit: number, after: BookPosition | undefined): Promise<SearchPage> {
    for (let position = after; ; ) {
      const page = await this.#search.search(this.#query, limit, position, this.#signal);
      this.#query = { ...this.#query, skip: page.skip };
      if (page.more !== 'unknown' || page.count > 0) return page;
      position = page.last;
    }
  }

  /** The number of all matching books. @throws StoreUnavailable when that takes too long */
  async count(): Promise<number> {
    let total = 0;
    let position: BookPosition | undefined;
    do {
      const { count, last } = await this.#search.count(this.#query, position, this.#signal);
      total += count;
      position = last;
    } while (position !== undefined);
    return total;
  }

  /** The number of matching books up to a position: all but those that can be skipped after it. */
  async countUpTo(position: BookPosition | undefined, total: number): Promise<number> {
    const query = { ...this.#query, skip: total };
    let page = await this.#search.search(query, 0, position, this.#signal);
    while (page.more === 'unknown')
      page = await this.#search.search({ ...query, skip: page.skip }, 0, page.last, this.#signal);
    return page.skip;
  }

  get #signal(): AbortSignal {
    const { signal } = this.#controller;
    signal.throwIfAborted();
    return signal;
  }

  #abort(reason: string): void {
    this.#controller.abort(new StoreUnavailable(reason));
  }
}
