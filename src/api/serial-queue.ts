import type { FastifyReply } from 'fastify';
import { isClosed } from '../http/connections/node-response.ts';
import type { HttpResult } from '../http/response.ts';

/** The requests for many books, which are processed one after the other: each needs many times the memory of its body. */
export class SerialQueue {
  readonly #waitMs: number;
  /** Resolves when all requests so far have been processed. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param waitMs the longest wait of a request for others */
  constructor(waitMs: number) {
    this.#waitMs = waitMs;
  }

  /**
   * Processes a request after those before it, whatever their results. One whose client has disconnected changes nothing: a client that
   * repeats its request after a timeout of its own would otherwise delay all others.
   *
   * @returns what `perform` returns, or a 503 after a longer wait
   */
  run(reply: FastifyReply, perform: () => Promise<HttpResult>): Promise<HttpResult> {
    const startedMs = performance.now();
    const result = this.#last.then((): HttpResult | Promise<HttpResult> => {
      const isLate = performance.now() - startedMs > this.#waitMs;
      return isLate || isClosed(reply) ? { outcome: 'serviceUnavailable' } : perform();
    });
    // Without the result, which may be long.
    this.#last = result.then(
      () => {},
      () => {},
    );
    return result;
  }
}
