import type { OperationObserver, StoreObserver } from './observer.ts';

/**
 * Runs a few calls at once and queues the others in the order of arrival. A long search is many calls, each of which
 * queues behind the calls of other searches.
 */
export class ConcurrencyLimiter {
  readonly #runningMax: number;
  readonly #observe: OperationObserver | undefined;
  readonly #queue = new Set<() => void>();
  #running = 0;

  /** @param runningMax how many calls run at once */
  constructor(name: string, runningMax: number, observer: StoreObserver | undefined) {
    this.#runningMax = runningMax;
    this.#observe = observer?.operation(name, () => this.#queue.size);
  }

  /**
   * Runs a call as soon as its turn has come.
   *
   * @param signal rejects the call at once; one that runs already counts as running to its end
   * @throws the reason of the signal; else what the call throws
   */
  async run<Result>(call: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const start = () => {
      this.#queue.delete(start);
      this.#running++;
      void this.#observed(call).then(resolve, reject).finally(this.#next);
    };
    const abort = () => {
      this.#queue.delete(start);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort);
    if (this.#running < this.#runningMax) start();
    else this.#queue.add(start);
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  readonly #next = () => {
    this.#running--;
    const [start] = this.#queue;
    start?.();
  };

  async #observed<Result>(call: () => Promise<Result>): Promise<Result> {
    const startedMs = performance.now();
    let hasFailed = true;
    try {
      const result = await call();
      hasFailed = false;
      return result;
    } finally {
      this.#observe?.(1, performance.now() - startedMs, hasFailed);
    }
  }
}
