import { setImmediate as nextTurn } from 'node:timers/promises';
import { StoreUnavailable, TableRejection } from '../book/book-store.ts';
import type { OperationObserver, StoreObserver } from './observer.ts';

/** Options of a {@link BatchQueue}. */
export interface BatchOptions<Item> {
  readonly name: string;
  /**
   * Whether an error of a batch proves that the batch has changed nothing. Only then are its items retried one by one: after any
   * other error, such as one of code that reads the results of a commit, a retry could store books twice.
   */
  readonly isUndone: (error: unknown) => boolean;
  readonly observer: StoreObserver;
  readonly batchItemsMax: number;
  /** Calls beyond this number are rejected. */
  readonly queueItemsMax: number;
  /** Items of which this is equal are never in one batch, and run in the order of their calls. */
  readonly uniqueBy?: (item: Item) => unknown;
  /** Makes, for each batch, the function that decides whether the next item joins it; one that does not join begins the next batch. */
  readonly joining?: () => (item: Item) => boolean;
  /**
   * Whether a batch ends in the turn of the event loop in which it starts, as reads of SQLite in the main thread do. No call arrives while
   * it runs. So if 32 requests arrive in one turn, the first runs alone, and the other 31 are gathered: otherwise they would be 31 batches.
   */
  readonly endsInTurn?: boolean;
}

/** `isUndone` of batches that only read. */
export const NOTHING_CHANGES = () => true;

/** Runs a batch. @returns the results in the order of the items; one that is an error rejects the call of its item alone */
export type RunBatch<Item, Result> = (items: readonly Item[]) => Promise<readonly (Result | Error)[]>;

/** The most turns of the event loop that a batch waits for calls, as concurrent requests arrive over several turns. */
const GATHERING_TURNS_MAX = 8;

/**
 * Runs concurrent calls in batches: calls that arrive while a batch runs, and in the turns after one of several calls, form the next one. A
 * call that finds no other runs at once if the batch before had one call, too: a lone client never waits.
 *
 * If a batch fails and has changed nothing, its items are retried one by one; if it may have changed something, all its calls fail. After
 * {@link StoreUnavailable}, they and all queued calls fail.
 */
export class BatchQueue<Item, Result> {
  readonly #runBatch: RunBatch<Item, Result>;
  readonly #options: BatchOptions<Item>;
  readonly #observe: OperationObserver;
  #queue: Call<Item, Result>[] = [];
  #isRunning = false;
  /** Whether the last batch had one call. */
  #wasAlone = true;
  #onIdle: (() => void) | undefined;
  #isClosed = false;

  constructor(runBatch: RunBatch<Item, Result>, options: BatchOptions<Item>) {
    this.#runBatch = runBatch;
    this.#options = options;
    this.#observe = options.observer.operation(options.name, () => this.#queue.length);
  }

  /**
   * Adds an item to the next batch, which the function given to the constructor runs.
   *
   * @param begin called before the item runs; what it throws rejects the call, and the item does not run
   * @throws StoreUnavailable when the queue is full or closed; errors of the batch
   */
  add(item: Item, begin?: () => void): Promise<Result> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('closed'));
    if (this.#queue.length >= this.#options.queueItemsMax)
      return Promise.reject(new StoreUnavailable('queue full'));
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#queue.push({ item, begin, isRetried: false, resolve, reject });
    if (!this.#isRunning) void this.#runBatches();
    return promise;
  }

  /** Rejects further calls, and resolves when the queued ones have finished. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#isRunning) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  async #runBatches(): Promise<void> {
    this.#isRunning = true;
    if (!this.#wasAlone) await this.#gather();
    while (this.#queue.length > 0) {
      const batch = this.#takeBatch();
      if (batch.length > 0) await this.#flush(batch);
      this.#wasAlone = batch.length <= 1;
      // A lone list, which calls for its next page now, does not wait.
      if (!this.#wasAlone || this.#options.endsInTurn) await this.#gather();
    }
    this.#isRunning = false;
    this.#onIdle?.();
  }

  /** Waits for a turn that adds no call. */
  async #gather(): Promise<void> {
    for (let turn = 0; turn < GATHERING_TURNS_MAX; turn++) {
      const gathered = this.#queue.length;
      await nextTurn();
      if (this.#queue.length === gathered) return;
    }
  }

  #takeBatch(): Call<Item, Result>[] {
    const { batchItemsMax, uniqueBy, joining } = this.#options;
    const itemsMax = this.#queue[0]?.isRetried ? 1 : batchItemsMax;
    const joins = joining?.();
    const values = new Set<unknown>();
    const batch: Call<Item, Result>[] = [];
    const postponed: Call<Item, Result>[] = [];
    let inspected = 0;
    for (const call of this.#queue) {
      const value = uniqueBy?.(call.item);
      if (uniqueBy && values.has(value)) {
        inspected++;
        postponed.push(call);
        continue;
      }
      if (batch.length >= itemsMax || joins?.(call.item) === false) break;
      inspected++;
      if (!this.#begin(call)) continue;
      values.add(value);
      batch.push(call);
    }
    this.#queue.splice(0, inspected, ...postponed);
    return batch;
  }

  #begin(call: Call<Item, Result>): boolean {
    try {
      call.begin?.();
      return true;
    } catch (error) {
      call.reject(error);
      return false;
    }
  }

  async #flush(batch: Call<Item, Result>[]): Promise<void> {
    const startedMs = performance.now();
    let results: readonly (Result | Error)[];
    try {
      results = await this.#runBatch(batch.map((call) => call.item));
    } catch (error) {
      this.#observe(batch.length, performance.now() - startedMs, !(error instanceof TableRejection));
      this.#fail(batch, error);
      return;
    }
    this.#observe(results.length, performance.now() - startedMs, false);
    for (const [index, result] of results.entries()) {
      const call = batch[index] as Call<Item, Result>;
      if (result instanceof Error) call.reject(result);
      else call.resolve(result);
    }
  }

  #fail(batch: Call<Item, Result>[], error: unknown): void {
    const isUnavailable = error instanceof StoreUnavailable;
    if (batch.length > 1 && !isUnavailable && this.#options.isUndone(error)) {
      for (const call of batch) call.isRetried = true;
      this.#queue.unshift(...batch);
      return;
    }
    for (const call of isUnavailable ? [...batch, ...this.#queue.splice(0)] : batch) call.reject(error);
  }
}

interface Call<Item, Result> {
  readonly item: Item;
  readonly begin: (() => void) | undefined;
  /** Whether it was in a batch that failed, and runs by itself. */
  isRetried: boolean;
  resolve(result: Result): void;
  reject(error: unknown): void;
}
