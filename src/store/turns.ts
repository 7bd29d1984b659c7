import type { StoreObserver, TripObserver } from './observer.ts';

/**
 * Calls that take turns: a few run at once, and the others wait in the order in which they came. A long search is many
 * calls, so that it waits behind the calls of the others each time.
 */
export class Turns {
  readonly #atOnceMax: number;
  readonly #observer: TripObserver | undefined;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  /** @param atOnceMax how many of them run at once */
  constructor(name: string, atOnceMax: number, observer: StoreObserver | undefined) {
    this.#atOnceMax = atOnceMax;
    this.#observer = observer?.operation(name, () => this.#waiting.size);
  }

  /**
   * Runs a call when it is its turn.
   *
   * @param signal ends the wait at once, in the queue or for the call; a call that runs keeps its turn to its end
   * @throws the reason of the signal; else what the call throws
   */
  async take<Result>(call: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const begin = () => {
      this.#waiting.delete(begin);
      this.#running++;
      void this.#observed(call).then(resolve, reject).finally(this.#next);
    };
    const leave = () => {
      this.#waiting.delete(begin);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', leave);
    if (this.#running < this.#atOnceMax) begin();
    else this.#waiting.add(begin);
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }

  readonly #next = () => {
    this.#running--;
    const [begin] = this.#waiting;
    begin?.();
  };

  async #observed<Result>(call: () => Promise<Result>): Promise<Result> {
    const startedMs = performance.now();
    let hasFailed = true;
    try {
      const result = await call();
      hasFailed = false;
      return result;
    } finally {
      this.#observer?.(1, performance.now() - startedMs, hasFailed);
    }
  }
}
