import { setImmediate as endOfTurn } from 'node:timers/promises';
import { StoreUnavailable } from '../book/book.ts';
import type { StoreObserver, TripObserver } from './observer.ts';

/** How a {@link Batch} groups its calls. */
export interface BatchOptions<Item> {
  /** What kind of call it is, for the observer. */
  readonly name: string;
  readonly observer?: StoreObserver | undefined;
  /** The most items that share one trip. */
  readonly tripItemsMax: number;
  /** The most text in the items of one trip, as `textOf` measures it; an item that has more travels alone. */
  readonly tripTextMax: number;
  /** The text of an item, in UTF-16 code units; without it items have none. */
  readonly textOf?: (item: Item) => number;
  /** The most items that wait for the next trip; one more is refused at once. */
  readonly queueItemsMax: number;
  /** The most text in the items that wait, likewise. */
  readonly queueTextMax: number;
  /** Items with equal keys never share a trip, and travel in the order of their calls. */
  readonly keyOf?: (item: Item) => unknown;
}

/**
 * The most turns of the event loop that a trip waits while each brings more calls. Requests that are on their way
 * together arrive over some turns; fewer and larger trips cost all of them less.
 */
const GATHERING_TURNS_MAX = 8;

/**
 * Lets concurrent calls share one trip to the store: while a trip is under way callers gather, and they leave
 * together when it returns. A lone call leaves at the end of its turn of the event loop. A call never joins a trip
 * that has already left, so it sees every effect that was answered before it was made.
 *
 * When a trip fails for a reason that may be one item's own, its items go again, each alone: a trip that fails must
 * have changed nothing. When it fails with {@link StoreUnavailable}, everybody in it and in the queue fails.
 */
export class Batch<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly (Result | StoreUnavailable)[]>;
  readonly #options: BatchOptions<Item>;
  readonly #observe: TripObserver | undefined;
  #queue: Call<Item, Result>[] = [];
  /** The text of all calls that are not answered yet. */
  #text = 0;
  /** How many calls at the head of the queue are on their way again after a trip that failed. */
  #travelAlone = 0;
  #journey: Promise<void> | undefined;
  #isClosed = false;

  /**
   * @param run makes one trip; its results stand in the order of the items. One that is an error fails its item alone.
   *   When there are fewer of them, at least one, nothing was done for the items behind, and they go with the next trip.
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
   * Sends one item with the next trip.
   *
   * @returns the item's result, after its trip has returned
   * @throws StoreUnavailable when the queue is full or closed; else what the trip threw
   */
  call(item: Item): Promise<Result> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('closed'));
    if (this.#queue.length >= this.#options.queueItemsMax)
      return Promise.reject(new StoreUnavailable('queue full'));
    const text = this.#options.textOf?.(item) ?? 0;
    if (this.#text + text > this.#options.queueTextMax && this.#text > 0)
      return Promise.reject(new StoreUnavailable('queue full'));
    this.#text += text;
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#queue.push({ item, text, resolve, reject });
    this.#journey ??= this.#travel();
    return promise;
  }

  /** Lets the calls made so far finish; later ones are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#journey;
  }

  async #travel(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#gather();
      await this.#trip(this.#board());
    }
    this.#journey = undefined;
  }

  /** Waits for a turn that brings no further call. */
  async #gather(): Promise<void> {
    let gathered = 0;
    for (let turn = 0; turn < GATHERING_TURNS_MAX && this.#queue.length > gathered; turn++) {
      gathered = this.#queue.length;
      await endOfTurn();
    }
  }

  /** Takes the items of the next trip from the queue. */
  #board(): Call<Item, Result>[] {
    const { tripItemsMax, tripTextMax, keyOf, textOf } = this.#options;
    if (this.#travelAlone > 0) {
      this.#travelAlone--;
      return this.#queue.splice(0, 1);
    }
    if (!keyOf && !textOf) return this.#queue.splice(0, tripItemsMax);
    const keys = new Set<unknown>();
    const boarded: Call<Item, Result>[] = [];
    let text = 0;
    let isFull = false;
    this.#queue = this.#queue.filter((call) => {
      const key = keyOf?.(call.item);
      if (isFull || (keyOf && keys.has(key))) return true;
      text += call.text;
      isFull = boarded.length >= tripItemsMax || (text > tripTextMax && boarded.length > 0);
      if (isFull) return true;
      keys.add(key);
      boarded.push(call);
      return false;
    });
    return boarded;
  }

  async #trip(calls: Call<Item, Result>[]): Promise<void> {
    const startedMs = performance.now();
    try {
      const results = await this.#run(calls.map((call) => call.item));
      this.#observe?.(results.length, performance.now() - startedMs, false);
      if (results.length < calls.length) this.#queue.unshift(...calls.splice(results.length));
      for (const [index, call] of calls.entries()) {
        const result = results[index] as Result | StoreUnavailable;
        this.#text -= call.text;
        if (result instanceof StoreUnavailable) call.reject(result);
        else call.resolve(result);
      }
    } catch (error) {
      this.#observe?.(calls.length, performance.now() - startedMs, true);
      if (error instanceof StoreUnavailable) {
        this.#travelAlone = 0;
        for (const call of [...calls, ...this.#queue.splice(0)]) this.#fail(call, error);
      } else if (calls.length === 1) {
        for (const call of calls) this.#fail(call, error);
      } else {
        this.#travelAlone = calls.length;
        this.#queue.unshift(...calls);
      }
    }
  }

  #fail(call: Call<Item, Result>, error: unknown): void {
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
