import { setTimeout as sleep } from 'node:timers/promises';
import { type Family, merge, withoutGauges } from '../metrics/family.ts';
import type { ShareMetrics } from '../metrics/metrics.ts';

/**
 * A scrape returns the metrics of all workers: the scraped worker requests them from the primary, and the primary from the
 * workers. Counters must not decrease, which Prometheus takes for a restart: the primary uses the last metrics of a worker
 * that does not reply, and keeps the counters of exited workers.
 */

/** The time that the primary waits for its workers. */
const WORKERS_MS_MAX = 2_000;
/** The time that a worker waits for the primary, which may wait for the others. */
const PRIMARY_MS_MAX = 4_000;

/** The request of a worker to the primary and its reply, `all`; the request of the primary and its reply, `own`. */
type Message =
  | { readonly metrics: 'request-all'; readonly id: number }
  | { readonly metrics: 'request-own' }
  | { readonly metrics: 'own'; readonly families: readonly Family[] }
  | { readonly metrics: 'all'; readonly id: number; readonly families: readonly Family[] };

interface Worker {
  send(message: Message, done: () => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): this;
  once(event: 'exit', listener: () => void): this;
}

/** In the primary: the metrics of all workers. */
export class WorkerMetrics {
  readonly #workers = new Map<Worker, WorkerState>();
  #exited: readonly Family[] = [];

  addWorker(worker: Worker): void {
    const state: WorkerState = { families: [], pending: [] };
    this.#workers.set(worker, state);
    worker.on('message', (message) => {
      if (!isMessage(message)) return;
      if (message.metrics === 'own') {
        state.families = message.families;
        state.pending.shift()?.();
      }
      if (message.metrics === 'request-all') void this.#reply(worker, message.id);
    });
    worker.once('exit', () => {
      this.#workers.delete(worker);
      this.#exited = merge([this.#exited, withoutGauges(state.families)]);
      for (const resolve of state.pending) resolve();
    });
  }

  async #reply(scraped: Worker, id: number): Promise<void> {
    const refreshes = [...this.#workers].map(([worker, { pending }]) => {
      sendTo(worker, { metrics: 'request-own' });
      return new Promise<void>((resolve) => pending.push(resolve));
    });
    await Promise.race([Promise.all(refreshes), sleep(WORKERS_MS_MAX)]);
    const families = [...this.#workers.values()].map((state) => state.families);
    sendTo(scraped, { metrics: 'all', id, families: merge([...families, this.#exited]) });
  }
}

interface WorkerState {
  families: readonly Family[];
  /** Called in order: the worker replies once to each request. */
  readonly pending: (() => void)[];
}

/** Errors are ignored: the worker may be exiting. */
function sendTo(worker: Worker, message: Message): void {
  worker.send(message, () => {});
}

/** In a worker: sends its metrics to the primary, and requests those of all workers from it. */
export const shareMetrics: ShareMetrics = (families) => {
  const pending = new Map<number, (families: readonly Family[]) => void>();
  let lastId = 0;
  process.on('message', (message) => {
    if (!isMessage(message)) return;
    if (message.metrics === 'request-own') sendToPrimary({ metrics: 'own', families: families() });
    if (message.metrics === 'all') pending.get(message.id)?.(message.families);
  });
  return async () => {
    const id = ++lastId;
    const { promise, resolve } = Promise.withResolvers<readonly Family[]>();
    pending.set(id, resolve);
    sendToPrimary({ metrics: 'request-all', id });
    const all = await Promise.race([promise, sleep(PRIMARY_MS_MAX, undefined, { ref: false })]);
    pending.delete(id);
    return all;
  };
};

/** Errors are ignored: without a primary, this worker is exiting. */
function sendToPrimary(message: Message): void {
  process.send?.(message, undefined, undefined, () => {});
}

function isMessage(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'metrics' in message;
}
