import type { StoreConnection } from '../../store/engine.ts';
import { DegradablePart, type StoreObserver } from '../../store/observer.ts';
import { openPools, type PoolLimits } from '../../store/postgres/pool/pool.ts';
import type { BookCount, BookPosition, BookSearch, SearchPage, SearchQuery } from '../book-search.ts';
import { ConcurrencyLimiter } from '../concurrency-limiter.ts';
import { explainTimeout, INDEX_WAITS_MS, notPrepared } from '../index-wait.ts';
import { Searcher } from '../searcher.ts';
import type { Outcome } from '../snapshot.ts';
import { ScanSnapshots } from './scan-snapshots.ts';
import { SearchIndex } from './search-index.ts';
import { PostgresSnapshots } from './snapshots.ts';

const POOLS = {
  /** For searches, so that they do not occupy the connections for single books. */
  searches: { connectionsMax: 2, statementTimeoutMs: 1_400 },
  /** For updating the search index in the background. */
  search_index: { connectionsMax: 2, statementTimeoutMs: 60_000 },
} as const satisfies Readonly<Record<string, PoolLimits>>;

/** Searches on connections of its own. */
export class PostgresSearch implements BookSearch {
  readonly #searcher: Searcher;
  /** Absent where the table of books cannot have its triggers. */
  readonly #index: SearchIndex | undefined;
  readonly #limiter: ConcurrencyLimiter;

  constructor(
    { server, canHaveTriggers }: Extract<StoreConnection, { engine: 'postgres' }>,
    observer: StoreObserver,
  ) {
    const { searches, search_index: updates } = openPools(server, POOLS, observer);
    if (canHaveTriggers)
      this.#index = new SearchIndex(searches, updates, new DegradablePart('search index', observer));
    this.#searcher = new Searcher(
      this.#index ? new PostgresSnapshots(searches, this.#index) : new ScanSnapshots(searches),
    );
    this.#limiter = new ConcurrencyLimiter(POOLS.searches.connectionsMax, observer);
    void this.#index?.follow();
  }

  search(query: SearchQuery, limit: number, after?: BookPosition, signal?: AbortSignal): Promise<SearchPage> {
    return this.#run(() => this.#searcher.search(query, limit, after), signal);
  }

  count(query: SearchQuery, after?: BookPosition, signal?: AbortSignal): Promise<BookCount> {
    return this.#run(() => this.#searcher.count(query, after), signal);
  }

  written(): void {
    this.#index?.written();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#index?.close();
    await this.#searcher.close();
  }

  /** Repeats a search until the index has what it must see. */
  async #run<Found>(call: () => Promise<Outcome<Found>>, signal: AbortSignal | undefined): Promise<Found> {
    const deadline = performance.now() + INDEX_WAITS_MS;
    for (;;) {
      const outcome = await this.#limiter.run(call, signal).catch(async (error: unknown) => {
        throw this.#index?.isApplying ? explainTimeout(error, await this.#index.readPercent()) : error;
      });
      if ('found' in outcome) return outcome.found;
      if (performance.now() > deadline) throw notPrepared(await this.#index?.readPercent());
      await this.#index?.wait();
    }
  }
}
