import { ConcurrencyLimiter } from '../../store/concurrency-limiter.ts';
import { DegradablePart, type StoreObserver } from '../../store/observer.ts';
import { LazyThread } from '../../store/sqlite/threads/thread-client.ts';
import type { BookCount, BookPosition, BookQuery, BookSearch, SearchPage } from '../book-search.ts';
import type { SearchRequest, SearchResponse } from './search-thread.ts';

const SEARCH_THREAD = new URL('./search-thread.ts', import.meta.url);

/** Searches in a thread, which is started by the first one. */
export class SqliteSearch implements BookSearch {
  readonly #thread: LazyThread<SearchRequest, SearchResponse>;
  readonly #index: DegradablePart;
  readonly #limiter: ConcurrencyLimiter;

  /** @param path the file of the books */
  constructor(path: string, observer: StoreObserver | undefined) {
    this.#thread = new LazyThread(SEARCH_THREAD, path, 'search thread', observer);
    this.#index = new DegradablePart('search index', observer);
    // While the thread runs one search, it has received the next one already.
    this.#limiter = new ConcurrencyLimiter('search', 2, observer);
  }

  search(query: BookQuery, limit: number, after?: BookPosition, signal?: AbortSignal): Promise<SearchPage> {
    return this.#send({ query, limit, after }, signal) as Promise<SearchPage>;
  }

  count(query: BookQuery, after?: BookPosition, signal?: AbortSignal): Promise<BookCount> {
    return this.#send({ query, limit: 'count', after }, signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread.close();
  }

  #send(request: SearchRequest, signal: AbortSignal | undefined): Promise<SearchPage | BookCount> {
    return this.#limiter.run(async () => {
      const { found, indexFailure } = await this.#thread.send(request);
      this.#index.report(indexFailure);
      return found;
    }, signal);
  }
}
