import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { type BookStore, StoreUnavailable } from '../book/book-store.ts';
import { annotate } from '../http/request-log.ts';
import type { HttpResult } from '../http/response.ts';

export const HEALTH_PATH = '/healthz';
export const READINESS_PATH = '/readyz';

/** The time for the store to respond, so that `GET /readyz` takes at most 2 seconds. */
const STORE_MS_MAX = 1_500;

/** The endpoints for orchestrators and load balancers, which need no token. */
export class HealthHandlers {
  readonly #store: BookStore;
  readonly #isStopping: () => boolean;
  /** The pending check of the store, which concurrent requests share. */
  #pendingCheck: Promise<void> | undefined;

  constructor(store: BookStore, isStopping: () => boolean) {
    this.#store = store;
    this.#isStopping = isStopping;
  }

  /** GET /healthz */
  readonly check = async (): Promise<HttpResult> => ({ outcome: 'alive' });

  /** GET /readyz. The check of the store is not queued, so a busy service is ready. */
  readonly checkReadiness = async (request: FastifyRequest): Promise<HttpResult> => {
    if (this.#isStopping()) {
      annotate(request, 'info', { msg: 'the service is stopping' });
      return { outcome: 'serviceUnavailable' };
    }
    this.#pendingCheck ??= this.#checkStore();
    await this.#pendingCheck;
    return { outcome: 'ready' };
  };

  /** Rejects after {@link STORE_MS_MAX}, but stays pending until the store responds: further requests fail immediately. */
  #checkStore(): Promise<void> {
    const check = this.#store.check().finally(() => {
      this.#pendingCheck = undefined;
    });
    const timeout = sleep(STORE_MS_MAX, undefined, { ref: false }).then(() => {
      throw new StoreUnavailable('slow');
    });
    return Promise.race([check, timeout]);
  }
}
