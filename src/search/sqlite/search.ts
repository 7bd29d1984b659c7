import { existsSync, realpathSync } from 'node:fs';
import type { StoreObserver } from '../../store/observer.ts';
import { LazyThread } from '../../store/sqlite/threads/thread-client.ts';
import type { BookCount, BookPosition, BookQuery, BookSearch, SearchPage } from '../book-search.ts';
import { ConcurrencyLimiter } from '../concurrency-limiter.ts';
import { INDEX_WAITS_MS, notPrepared, notUsable } from '../index-wait.ts';
import { IndexFollower } from './index-follower.ts';
import type { SearchRequest, SearchResponse } from './search-thread.ts';

const SEARCH_THREAD = new URL('./search-thread.ts', import.meta.url);

/** Searches in a thread; another one keeps the index up to date, from the first search on, or from the start if there is an index. */
export class SqliteSearch implements BookSearch {
  readonly #thread: LazyThread<SearchRequest, SearchResponse>;
  readonly #index: IndexFollower;
  readonly #limiter: ConcurrencyLimiter;

  /** @param path the file of the books */
  constructor(path: string, observer: StoreObserver) {
    this.#thread = new LazyThread(SEARCH_THREAD, path, 'search thread', observer);
    this.#index = new IndexFollower(path, observer);
    // While the thread runs one search, it has received the next one already.
    this.#limiter = new ConcurrencyLimiter(2, observer);
    if (existsSync(`${realpathSync(path)}-search`)) void this.#index.step();
  }

  search(query: BookQuery, limit: number, after?: BookPosition, signal?: AbortSignal): Promise<SearchPage> {
    return this.#send({ query, limit, after, target: undefined }, signal) as Promise<SearchPage>;
  }

  count(query: BookQuery, after?: BookPosition, signal?: AbortSignal): Promise<BookCount> {
    return this.#send({ query, limit: 'count', after, target: undefined }, signal);
  }

  written(): void {
    this.#index.written();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // In turn: of two connections that close at once, each would leave the WAL of the index to the other.
    await this.#thread.close();
    await this.#index.close();
  }

  /** Repeats a search until the index has what it must see. */
  async #send(request: SearchRequest, signal: AbortSignal | undefined): Promise<SearchPage | BookCount> {
    const deadline = performance.now() + INDEX_WAITS_MS;
    for (let next = request; ; ) {
      const response = await this.#limiter.run(() => this.#thread.send(next), signal);
      if ('found' in response) return response.found;
      if ('unusable' in response) {
        this.#index.fail(response.unusable);
        throw notUsable(response.unusable, response.unusable);
      }
      if (performance.now() > deadline) throw notPrepared(this.#index.percent);
      if (response.isDamaged) this.#index.reportDamage();
      await this.#index.step();
      if (this.#index.failure !== undefined) throw notUsable(this.#index.failure);
      next = { ...request, target: response.target };
    }
  }
}
