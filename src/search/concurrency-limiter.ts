import type { OperationObserver, StoreObserver } from '../store/observer.ts';

/** Limits the number of concurrent searches; the others wait in a queue, first in, first out. */
export class ConcurrencyLimiter {
  readonly #runningMax: number;
  readonly #observe: OperationObserver;
  readonly #queue = new Set<() => Promise<void>>();
  #running = 0;

  constructor(runningMax: number, observer: StoreObserver) {
    this.#runningMax = runningMax;
    this.#observe = observer.operation('search', () => this.#queue.size);
  }

  /** @param signal rejects the call with its reason; a call that is already running counts until it ends */
  async run<Result>(call: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const start = async () => {
      this.#queue.delete(start);
      this.#running++;
      const startedMs = performance.now();
      let hasFailed = false;
      try {
        resolve(await call());
      } catch (error) {
        hasFailed = true;
        reject(error);
      }
      this.#observe(1, performance.now() - startedMs, hasFailed);
      this.#running--;
      const [next] = this.#queue;
      void next?.();
    };
    const abort = () => {
      this.#queue.delete(start);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort);
    if (this.#running < this.#runningMax) void start();
    else this.#queue.add(start);
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }
}
