import { existsSync, realpathSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { DueTimer } from '../../changes/due-timer.ts';
import { DegradablePart, type FailureCause, type StoreObserver } from '../../store/observer.ts';
import { causeOf } from '../../store/sqlite/errors.ts';
import { LazyThread } from '../../store/sqlite/threads/lazy-thread.ts';
import type { BookCount, BookPosition, BookSearch, SearchPage, SearchQuery } from '../book-search.ts';
import { ConcurrencyLimiter } from '../concurrency-limiter.ts';
import { explainTimeout, INDEX_WAITS_MS, notPrepared, notUsable, type Progress } from '../index-wait.ts';
import type { IndexResponse, SearchRequest, SearchResponse } from './search-thread.ts';

const SEARCH_THREAD = new URL('./search-thread.ts', import.meta.url);

/** The interval of polls for writes of other programs. */
const POLL_MS = 250;
/** The time from a write of this process until an update, which serves all writes in between: many at a time cost less. */
const WRITE_DELAY_MS = 200;
/** The pause after an update that has failed. */
const RETRY_MS = 1_000;
/** The pause after an update that has not done all, for other processes that wait for the lock of the index. */
const PAUSE_MS = 5;

/** Searches in a thread, which brings the index up to date before: from the first search on, or from the start if there is an index. */
export class SqliteSearch implements BookSearch {
  readonly #thread: LazyThread<SearchRequest | 'update', SearchResponse>;
  readonly #limiter: ConcurrencyLimiter;
  readonly #part: DegradablePart;
  readonly #timer = new DueTimer(() => void this.#update());
  /** That of the last update; undefined before the first one. */
  #progress: Progress | undefined;
  #isUpdating = false;
  #hasStarted = false;
  #isClosed = false;

  /** @param path the file of the books */
  constructor(path: string, observer: StoreObserver) {
    this.#thread = new LazyThread(SEARCH_THREAD, path, 'search thread', observer);
    // While the thread runs one search, it has received the next one already.
    this.#limiter = new ConcurrencyLimiter(2, observer);
    this.#part = new DegradablePart('search index', observer);
    if (existsSync(`${realpathSync(path)}-search`)) this.#start();
  }

  search(query: SearchQuery, limit: number, after?: BookPosition, signal?: AbortSignal): Promise<SearchPage> {
    return this.#send({ query, limit, after }, signal) as Promise<SearchPage>;
  }

  count(query: SearchQuery, after?: BookPosition, signal?: AbortSignal): Promise<BookCount> {
    return this.#send({ query, limit: 'count', after }, signal);
  }

  /** Without an index, nothing is to be done. */
  written(): void {
    if (this.#hasStarted) this.#timer.callIn(WRITE_DELAY_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#timer.close();
    await this.#thread.close();
  }

  /** Repeats a search until the index has what it must see. */
  async #send(
    call: Omit<SearchRequest, 'arrivedAt'>,
    signal: AbortSignal | undefined,
  ): Promise<SearchPage | BookCount> {
    const request = { ...call, arrivedAt: process.hrtime.bigint() };
    const deadline = performance.now() + INDEX_WAITS_MS;
    this.#start();
    for (;;) {
      const response = await this.#limiter
        .run(() => this.#thread.send(request), signal)
        .catch((error: unknown) => {
          // A long update, such as the creation of an order, keeps the thread from telling it.
          const isWaiting = signal?.aborted && !this.#progress?.isCurrent;
          throw isWaiting ? explainTimeout(error, this.#progress?.percent) : error;
        });
      if ('found' in response) return response.found;
      this.#report(response);
      if ('unusable' in response) throw notUsable(response.unusable, response.detail);
      if (performance.now() > deadline) throw notPrepared(response.progress.percent);
      await sleep(PAUSE_MS);
    }
  }

  /** Begins to follow the log. */
  #start(): void {
    if (!this.#hasStarted) this.#timer.callIn(0);
    this.#hasStarted = true;
  }

  async #update(): Promise<void> {
    // Searches would wait for all updates that are in the queue of the thread.
    if (this.#isUpdating) return;
    this.#isUpdating = true;
    let pauseMs = RETRY_MS;
    try {
      const response = (await this.#thread.send('update')) as IndexResponse;
      this.#report(response);
      if ('progress' in response) pauseMs = response.progress.isCurrent ? POLL_MS : PAUSE_MS;
    } catch (error) {
      this.#reportCause(causeOf(error));
    }
    this.#isUpdating = false;
    this.#timer.callIn(pauseMs);
  }

  /** Reports that the index cannot be used or was damaged, or that it can be used again. */
  #report(response: IndexResponse): void {
    this.#progress = 'progress' in response ? response.progress : undefined;
    if ('unusable' in response) this.#reportCause(response.unusable);
    else this.#reportCause(response.progress.wasDamaged ? 'damaged' : undefined);
  }

  #reportCause(cause: FailureCause | undefined): void {
    if (!this.#isClosed) this.#part.report(cause);
  }
}
