import { ConcurrencyLimiter } from '../../store/concurrency-limiter.ts';
import type { StoreConnection } from '../../store/engine.ts';
import { DegradablePart, type StoreObserver } from '../../store/observer.ts';
import { openPools, type PoolLimits } from '../../store/postgres/pool/pool.ts';
import type { BookCount, BookPosition, BookQuery, BookSearch, SearchPage } from '../book-search.ts';
import { Searcher } from '../searcher.ts';
import { CitusSnapshot } from './citus-search.ts';
import { PostgresSearchEngine } from './engine.ts';
import { SearchIndex } from './search-index.ts';

const POOLS = {
  /** For searches, so that they do not occupy the connections for single books. */
  searches: { connectionsMax: 2, statementTimeoutMs: 1_400 },
  /** For updating the search index in the background; a book of a megabyte takes seconds. */
  search_index: { connectionsMax: 2, statementTimeoutMs: 60_000 },
} as const satisfies Readonly<Record<string, PoolLimits>>;

/** Searches on connections of its own. */
export class PostgresSearch implements BookSearch {
  readonly #searcher: Searcher;
  readonly #limiter: ConcurrencyLimiter;

  constructor(
    { server, canHaveTriggers }: Extract<StoreConnection, { engine: 'postgres' }>,
    observer: StoreObserver | undefined,
  ) {
    const { searches, search_index: updates } = openPools(server, POOLS, observer);
    const engine = canHaveTriggers
      ? new PostgresSearchEngine(
          searches,
          new SearchIndex(searches, updates, new DegradablePart('search index', observer)),
        )
      : new PostgresSearchEngine(searches, undefined, CitusSnapshot);
    this.#searcher = new Searcher(engine);
    this.#limiter = new ConcurrencyLimiter('search', POOLS.searches.connectionsMax, observer);
  }

  search(query: BookQuery, limit: number, after?: BookPosition, signal?: AbortSignal): Promise<SearchPage> {
    return this.#limiter.run(() => this.#searcher.search(query, limit, after), signal);
  }

  count(query: BookQuery, after?: BookPosition, signal?: AbortSignal): Promise<BookCount> {
    return this.#limiter.run(() => this.#searcher.count(query, after), signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#searcher.close();
  }
}
