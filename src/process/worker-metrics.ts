import { setTimeout as sleep } from 'node:timers/promises';
import type { Family } from '../metrics/family.ts';
import { merge, withoutGauges } from '../metrics/merge.ts';

/**
 * One scrape has the metrics of all workers: the scraped worker asks the primary, which asks all workers. Counters never
 * decrease, because Prometheus would see a restart: a worker that does not reply counts with its last metrics, and the
 * counters of exited workers are kept.
 */

/** How long the primary waits for workers, … */
const WORKERS_MS_MAX = 2_000;

/** … and a worker for the primary. */
const PRIMARY_MS_MAX = 4_000;

/** The messages between a worker and the primary. */
type Message =
  /** Worker to primary. */
  | { readonly metrics: 'request-all'; readonly id: number }
  /** Primary to worker. */
  | { readonly metrics: 'request-own' }
  /** The reply to `request-own`. */
  | { readonly metrics: 'own'; readonly families: readonly Family[] }
  /** The reply to `request-all`. */
  | { readonly metrics: 'all'; readonly id: number; readonly families: readonly Family[] };

/** The part of `cluster.Worker` that is used. */
interface Worker {
  send(message: Message, done: () => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): this;
  once(event: 'exit', listener: () => void): this;
}

/** In the primary: the metrics of all workers. */
export class WorkerMetrics {
  readonly #workers = new Set<WorkerState>();
  /** The counters of exited workers. */
  #exited: readonly Family[] = [];

  /** Call it when the worker starts. */
  addWorker(worker: Worker): void {
    const state = new WorkerState(worker);
    this.#workers.add(state);
    worker.on('message', (message) => {
      if (!isMessage(message)) return;
      if (message.metrics === 'own') state.update(message.families);
      if (message.metrics === 'request-all') void this.#reply(state, message.id);
    });
    worker.once('exit', () => {
      this.#workers.delete(state);
      this.#exited = merge([this.#exited, withoutGauges(state.families)]);
      state.close();
    });
  }

  async #reply(scraped: WorkerState, id: number): Promise<void> {
    await Promise.race([
      Promise.all([...this.#workers].map((state) => state.refresh())),
      sleep(WORKERS_MS_MAX),
    ]);
    const families = merge([...[...this.#workers].map((state) => state.families), this.#exited]);
    scraped.send({ metrics: 'all', id, families });
  }
}

/** In the primary: the last metrics of a worker. */
class WorkerState {
  readonly #worker: Worker;
  families: readonly Family[] = [];
  /** Resolve in order: the worker replies once to each request. */
  readonly #pending: (() => void)[] = [];

  constructor(worker: Worker) {
    this.#worker = worker;
  }

  refresh(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pending.push(resolve);
    this.send({ metrics: 'request-own' });
    return promise;
  }

  update(families: readonly Family[]): void {
    this.families = families;
    this.#pending.shift()?.();
  }

  close(): void {
    for (const resolve of this.#pending.splice(0)) resolve();
  }

  /** Errors are ignored: the worker may be exiting. */
  send(message: Message): void {
    this.#worker.send(message, () => {});
  }
}

/**
 * In a worker: replies to the primary with its metrics.
 *
 * @returns requests the metrics of all workers; undefined after a timeout
 */
export function shareMetrics(
  families: () => readonly Family[],
): () => Promise<readonly Family[] | undefined> {
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
}

/** Errors are ignored: without a primary, this worker is exiting. */
function sendToPrimary(message: Message): void {
  process.send?.(message, undefined, undefined, () => {});
}

function isMessage(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'metrics' in message;
}
