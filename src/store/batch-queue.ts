import { setImmediate as endOfTurn } from 'node:timers/promises';
import { StoreUnavailable } from '../book/book-store-interface.ts';
import type { OperationObserver, StoreObserver } from './observer.ts';

/** How a {@link BatchQueue} groups its calls. Text is counted in UTF-16 code units. */
export interface BatchOptions<Item> {
  /** The kind of operation, for the observer. */
  readonly name: string;
  readonly observer?: StoreObserver | undefined;
  /** The most items in a batch. */
  readonly batchItemsMax: number;
  /** The most text in a batch; a single item may have more. */
  readonly batchTextMax: number;
  /** The length of an item's text; without it items have none. */
  readonly textOf?: (item: Item) => number;
  /** The most items in the queue; further calls are rejected. */
  readonly queueItemsMax: number;
  /** The most text in all unfinished calls; likewise. */
  readonly queueTextMax: number;
  /** Items with equal keys never share a batch, and run in the order of their calls. */
  readonly keyOf?: (item: Item) => unknown;
}

/**
 * The most turns of the event loop that a batch waits while each brings more calls. Requests that are sent together
 * arrive over several turns; fewer and larger batches cost less.
 */
const GATHERING_TURNS_MAX = 8;

/**
 * Runs concurrent calls in batches: calls that arrive while a batch runs form the next one. A lone call runs at the end
 * of its turn of the event loop. No call joins a batch that has started, so it sees every effect that was acknowledged
 * before it was made.
 *
 * When a batch fails, its items are retried one by one; so a batch that fails must have changed nothing. When it fails
 * with {@link StoreUnavailable}, all calls in it and in the queue fail.
 */
export class BatchQueue<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly (Result | StoreUnavailable)[]>;
  readonly #options: BatchOptions<Item>;
  readonly #observe: OperationObserver | undefined;
  #queue: Call<Item, Result>[] = [];
  /** The text of all unfinished calls. */
  #text = 0;
  /** How many calls at the head of the queue were in a batch that failed. */
  #retryIndividually = 0;
  #flushLoop: Promise<void> | undefined;
  #isClosed = false;

  /**
   * @param run runs one batch and returns the results in the order of the items. A result that is an error rejects its
   *   call alone. If it returns fewer results than items, but at least one, the rest was not run and is queued again.
   */
  constructor(
    run: (items: readonly Item[]) => Promise<readonly (Result | StoreUnavailable)[]>,
    options: BatchOptions<Item>,
  ) {
    this.#run = run;
    this.#options = options;
    this.#observe = options.observer?.operation(options.name, () => this.#queue.length);
  }

  /**
   * Adds an item to the next batch.
   *
   * @returns the item's result, when its batch has finished
   * @throws StoreUnavailable when the queue is full or closed; else what the batch threw
   */
  add(item: Item): Promise<Result> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('closed'));
    if (this.#queue.length >= this.#options.queueItemsMax)
      return Promise.reject(new StoreUnavailable('queue full'));
    const text = this.#options.textOf?.(item) ?? 0;
    if (this.#text + text > this.#options.queueTextMax && this.#text > 0)
      return Promise.reject(new StoreUnavailable('queue full'));
    this.#text += text;
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

  /** Waits for a turn that brings no further call. */
  async #gather(): Promise<void> {
    let gathered = 0;
    for (let turn = 0; turn < GATHERING_TURNS_MAX && this.#queue.length > gathered; turn++) {
      gathered = this.#queue.length;
      await endOfTurn();
    }
  }

  /** Removes the next batch from the queue. */
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
        const result = results[index] as Result | StoreUnavailable;
        this.#text -= call.text;
        if (result instanceof StoreUnavailable) call.reject(result);
        else call.resolve(result);
      }
    } catch (error) {
      this.#observe?.(batch.length, performance.now() - startedMs, true);
      if (error instanceof StoreUnavailable) {
        this.#retryIndividually = 0;
        for (const call of [...batch, ...this.#queue.splice(0)]) this.#reject(call, error);
      } else if (batch.length === 1) {
        for (const call of batch) this.#reject(call, error);
      } else {
        this.#retryIndividually = batch.length;
        this.#queue.unshift(...batch);
      }
    }
  }

  #reject(call: Call<Item, Result>, error: unknown): void {
    this.#text -= call.text;
    call.reject(error);
  }
}

interface Call<Item, Result> {
  readonly item: Item;
  readonly text: number;
  resolve(result: Result): void;
  reject(error: unknown): void;
}
