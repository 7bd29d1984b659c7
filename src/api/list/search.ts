import type { FastifyReply } from 'fastify';
import {
  type BookPosition,
  type BookQuery,
  type BookStore,
  type SearchPage,
  StoreUnavailable,
} from '../../book/book-store-interface.ts';

/** Runs one query, until it takes too long or the client disconnects. */
export class Search {
  readonly #store: BookStore;
  readonly #query: BookQuery;
  readonly #waitMs: number;
  readonly #disconnected = new AbortController();
  #startedMs = 0;
  #signal = this.#disconnected.signal;

  /** @param waitMs the time that the client may wait for the next part of the response */
  constructor(store: BookStore, query: BookQuery, reply: FastifyReply, waitMs: number) {
    this.#store = store;
    this.#query = query;
    this.#waitMs = waitMs;
    const abort = () => this.#disconnected.abort(new StoreUnavailable('the client has disconnected'));
    if (reply.raw.closed) abort();
    else reply.raw.once('close', abort);
    this.restartWait();
  }

  /** Whether half of the time is over, so that the books found so far should be sent. */
  get isLate(): boolean {
    return performance.now() - this.#startedMs > this.#waitMs / 2;
  }

  /** Restarts the time, when the client has received a part of the response. */
  restartWait(): void {
    this.#startedMs = performance.now();
    this.#signal = AbortSignal.any([this.#disconnected.signal, AbortSignal.timeout(this.#waitMs)]);
  }

  /** The next page, which is empty only when no book follows. @throws StoreUnavailable when that takes too long */
  async next(limit: number, after: BookPosition | undefined): Promise<SearchPage> {
    for (let position = after; ; ) {
      const page = await this.#withTimeout((signal) =>
        this.#store.search(this.#query, limit, position, signal),
      );
      if (page.more !== 'unknown' || page.count > 0) return page;
      position = page.last;
    }
  }

  /** The number of all matching books. @throws StoreUnavailable when that takes too long */
  async count(): Promise<number> {
    let total = 0;
    let position: BookPosition | undefined;
    do {
      const { count, last } = await this.#withTimeout((signal) =>
        this.#store.count(this.#query, position, signal),
      );
      total += count;
      position = last;
    } while (position !== undefined);
    return total;
  }

  async #withTimeout<Result>(call: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
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
