import type { FastifyReply } from 'fastify';
import { StoreUnavailable } from '../book/book-store.ts';
import type { HttpResult } from '../http/response.ts';
import { NoRoom } from './unread-response.ts';

/** The requests for many books, which are processed one after the other: each needs many times the memory of its body. */
export class Turns {
  readonly #waitMs: number;
  /** Resolves when all requests so far have been processed. */
  #last: Promise<unknown> = Promise.resolve();
  #lastOutage: StoreUnavailable | undefined;

  /** @param waitMs the longest wait of a request for others */
  constructor(waitMs: number) {
    this.#waitMs = waitMs;
  }

  /**
   * Processes a request after those before it. If the store is unavailable for one, those that wait fail with it. Those whose client has
   * disconnected change nothing: a client that repeats them after its own timeout would otherwise delay all others.
   *
   * @returns what `perform` returns, or a 503 after a longer wait
   */
  take({ raw }: FastifyReply, perform: () => Promise<HttpResult>): Promise<HttpResult> {
    const known = this.#lastOutage;
    const startedMs = performance.now();
    const result = this.#last.then((): HttpResult | Promise<HttpResult> => {
      const isLate = performance.now() - startedMs > this.#waitMs;
      if (isLate || raw.closed) return { outcome: 'serviceUnavailable' };
      if (this.#lastOutage !== known) throw this.#lastOutage;
      return perform();
    });
    // Without the result, which may be long.
    this.#last = result.then(
      () => {},
      (error: unknown) => {
        if (error instanceof StoreUnavailable && !(error instanceof NoRoom)) this.#lastOutage = error;
      },
    );
    return result;
  }
}
