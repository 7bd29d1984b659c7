import { setImmediate as endOfTurn } from 'node:timers/promises';
import { StoreUnavailable } from '../book/book-store-interface.ts';
import type { OperationObserver, StoreObserver } from './observer.ts';

/** Options of a {@link BatchQueue}. Text is counted in UTF-16 code units. */
export interface BatchOptions<Item> {
  readonly name: string;
  readonly observer?: StoreObserver | undefined;
  readonly batchItemsMax: number;
  /** A single item may have more. */
  readonly batchTextMax: number;
  /** The length of an item's text; without it items have none. */
  readonly textOf?: (item: Item) => number;
  /** Calls beyond these limits are rejected; the text is that of all unfinished calls. */
  readonly queueItemsMax: number;
  readonly queueTextMax: number;
  /** Items with equal keys never share a batch, and run in the order of their calls. */
  readonly keyOf?: (item: Item) => unknown;
}

type Run<Item, Result> = (items: readonly Item[]) => Promise<readonly (Result | Error)[]>;

/** The most turns of the event loop that a batch waits, as concurrent requests arrive over several turns. */
const GATHERING_TURNS_MAX = 8;

/**
 * Runs concurrent calls in batches: calls that arrive while a batch runs form the next one. A batch that fails must have
 * changed nothing: its items are retried one by one; after {@link StoreUnavailable}, they and all queued calls fail.
 */
export class BatchQueue<Item, Result> {
  readonly #run: Run<Item, Result>;
  readonly #options: BatchOptions<Item>;
  readonly #observe: OperationObserver | undefined;
  #queue: Call<Item, Result>[] = [];
  #unfinishedText = 0;
  /** The number of calls at the head of the queue that were in a failed batch. */
  #retryIndividually = 0;
  #flushLoop: Promise<void> | undefined;
  #isClosed = false;

  /**
   * @param run runs one batch and returns the results in the order of the items. A result that is an error rejects its
   *   call alone. If it returns fewer results than items, but at least one, the remaining items are queued again.
   */
  constructor(run: Run<Item, Result>, options: BatchOptions<Item>) {
    this.#run = run;
    this.#options = options;
    this.#observe = options.observer?.operation(options.name, () => this.#queue.length);
  }

  /** Adds an item to the next batch. @throws StoreUnavailable when the queue is full or closed; errors of the batch */
  add(item: Item): Promise<Result> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('closed'));
    const text = this.#options.textOf?.(item) ?? 0;
    const isTextFull = this.#unfinishedText > 0 && this.#unfinishedText + text > this.#options.queueTextMax;
    if (isTextFull || this.#queue.length >= this.#options.queueItemsMax)
      return Promise.reject(new StoreUnavailable('queue full'));
    this.#unfinishedText += text;
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#queue.push({ item, text, resolve, reject });
    this.#flushLoop ??= this.#flushAll();
    return promise;
  }

  /** Rejects further calls, and resolves when the queued ones have finished. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#flushLoop;
  }

  async #flushAll(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#gather();
      await this.#flush(this.#takeBatch());
    }
    this.#flushLoop = undefined;
  }

  /** Waits for a turn that adds no call. */
  async #gather(): Promise<void> {
    let gathered = 0;
    for (let turn = 0; turn < GATHERING_TURNS_MAX && this.#queue.length > gathered; turn++) {
      gathered = this.#queue.length;
      await endOfTurn();
    }
  }

  #takeBatch(): Call<Item, Result>[] {
    const { batchItemsMax, batchTextMax, keyOf, textOf } = this.#options;
    if (this.#retryIndividually > 0) {
      this.#retryIndividually--;
      return this.#queue.splice(0, 1);
    }
    if (!keyOf && !textOf) return this.#queue.splice(0, batchItemsMax);
    const keys = new Set<unknown>();
    const batch: Call<Item, Result>[] = [];
    let text = 0;
    let isFull = false;
    this.#queue = this.#queue.filter((call) => {
      const key = keyOf?.(call.item);
      if (isFull || (keyOf && keys.has(key))) return true;
      text += call.text;
      isFull = batch.length >= batchItemsMax || (text > batchTextMax && batch.length > 0);
      if (isFull) return true;
      keys.add(key);
      batch.push(call);
      return false;
    });
    return batch;
  }

  async #flush(batch: Call<Item, Result>[]): Promise<void> {
    const startedMs = performance.now();
    try {
      const results = await this.#run(batch.map((call) => call.item));
      this.#observe?.(results.length, performance.now() - startedMs, false);
      if (results.length < batch.length) this.#queue.unshift(...batch.splice(results.length));
      for (const [index, call] of batch.entries()) {
        const result = results[index] as Result | Error;
        this.#unfinishedText -= call.text;
        if (result instanceof Error) call.reject(result);
        else call.resolve(result);
      }
    } catch (error) {
      this.#observe?.(batch.length, performance.now() - startedMs, true);
      const isUnavailable = error instanceof StoreUnavailable;
      if (!isUnavailable && batch.length > 1) {
        this.#retryIndividually = batch.length;
        this.#queue.unshift(...batch);
        return;
      }
      if (isUnavailable) this.#retryIndividually = 0;
      for (const call of isUnavailable ? [...batch, ...this.#queue.splice(0)] : batch) {
        this.#unfinishedText -= call.text;
        call.reject(error);
      }
    }
  }
}

interface Call<Item, Result> {
  readonly item: Item;
  readonly text: number;
  resolve(result: Result): void;
  reject(error: unknown): void;
}
