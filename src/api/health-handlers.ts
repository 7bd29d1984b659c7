import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type BookStore, StoreUnavailable } from '../book/book.ts';
import { type Answer, CACHE_CONTROL } from '../http/answer.ts';
import { note } from '../http/request-log.ts';

/** Where an orchestrator asks whether to restart the process, … */
export const HEALTH_PATH = '/healthz';

/** … and a load balancer whether to send it requests. */
export const READINESS_PATH = '/readyz';

/** How long the store may take to answer, so that whoever asks is answered within 2 seconds. */
const STORE_MS_MAX = 1_500;

/** The endpoints for those who start the service and send it requests. They need no token. */
export class HealthHandlers {
  readonly #store: BookStore;
  readonly #isStopping: () => boolean;
  /** The question that the store has not answered yet: all who ask meanwhile share it. */
  #question: Promise<void> | undefined;

  constructor(store: BookStore, isStopping: () => boolean) {
    this.#store = store;
    this.#isStopping = isStopping;
  }

  /** GET /healthz */
  readonly check = async (_request: FastifyRequest, reply: FastifyReply): Promise<Answer> => {
    reply.header('cache-control', CACHE_CONTROL.withoutToken);
    return { outcome: 'alive' };
  };

  /** GET /readyz. Its requests wait in no queue: a service that is busy is ready all the same. */
  readonly checkReadiness = async (request: FastifyRequest, reply: FastifyReply): Promise<Answer> => {
    reply.header('cache-control', CACHE_CONTROL.withoutToken);
    if (this.#isStopping()) {
      note(request, 'info', { msg: 'the service is stopping' });
      return { outcome: 'serviceUnavailable' };
    }
    this.#question ??= this.#ask();
    await this.#question;
    return { outcome: 'ready' };
  };

  /** Who asks a store that has been too slow already is told so at once. */
  #ask(): Promise<void> {
    const answered = this.#store.check().finally(() => {
      this.#question = undefined;
    });
    return Promise.race([answered, tooLate()]);
  }
}

async function tooLate(): Promise<never> {
  await sleep(STORE_MS_MAX, undefined, { ref: false });
  throw new StoreUnavailable('slow');
}
