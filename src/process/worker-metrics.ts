import { setTimeout as sleep } from 'node:timers/promises';
import type { Family } from '../metrics/family.ts';
import { counted, merge } from '../metrics/merge.ts';

/**
 * How one scrape sees all workers: the one that is asked asks the primary, which asks all of them. What is counted
 * never goes down, which Prometheus would take for a restart: a worker that does not answer stands as it was known last,
 * and what one had counted that has ended is kept.
 */

/** How long the primary waits for workers, … */
const TELL_MS_MAX = 2_000;

/** … and a worker for the primary. */
const GATHER_MS_MAX = 4_000;

/** What goes between a worker and the primary. */
type Message =
  /** To the primary: somebody asks this worker. */
  | { readonly metrics: 'gather'; readonly id: number }
  /** To a worker: tell what you measure. */
  | { readonly metrics: 'tell' }
  /** To the primary: the answer to that. */
  | { readonly metrics: 'told'; readonly families: readonly Family[] }
  /** To a worker: the answer to `gather`. */
  | { readonly metrics: 'gathered'; readonly id: number; readonly families: readonly Family[] };

/** A worker, as the primary sees it. */
interface Worker {
  send(message: Message, done: () => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): this;
  once(event: 'exit', listener: () => void): this;
}

/** The primary's side: what is known of every worker. */
export class WorkerMetrics {
  readonly #workers = new Set<KnownWorker>();
  /** What workers had counted that have ended. */
  #ended: readonly Family[] = [];

  /** Takes part of a worker from its start to its end. */
  admit(worker: Worker): void {
    const known = new KnownWorker(worker);
    this.#workers.add(known);
    worker.on('message', (message) => {
      if (!isMessage(message)) return;
      if (message.metrics === 'told') known.hear(message.families);
      if (message.metrics === 'gather') void this.#answer(known, message.id);
    });
    worker.once('exit', () => {
      this.#workers.delete(known);
      this.#ended = merge([this.#ended, counted(known.families)]);
      known.end();
    });
  }

  async #answer(asking: KnownWorker, id: number): Promise<void> {
    await Promise.race([Promise.all([...this.#workers].map((known) => known.ask())), sleep(TELL_MS_MAX)]);
    const families = merge([...[...this.#workers].map((known) => known.families), this.#ended]);
    asking.send({ metrics: 'gathered', id, families });
  }
}

/** What the primary knows of a worker. */
class KnownWorker {
  readonly #worker: Worker;
  /** What it told last. */
  families: readonly Family[] = [];
  /** Who waits for it to tell. It does so once for every time that it is asked. */
  readonly #askers: (() => void)[] = [];

  constructor(worker: Worker) {
    this.#worker = worker;
  }

  ask(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#askers.push(resolve);
    this.send({ metrics: 'tell' });
    return promise;
  }

  hear(families: readonly Family[]): void {
    this.families = families;
    this.#askers.shift()?.();
  }

  end(): void {
    for (const resolve of this.#askers.splice(0)) resolve();
  }

  /** A worker that is just ending does not take it. */
  send(message: Message): void {
    this.#worker.send(message, () => {});
  }
}

/**
 * A worker's side: tells the primary what it measures.
 *
 * @returns asks for what all of them measure; undefined when that cannot be had in time
 */
export function shareMetrics(
  families: () => readonly Family[],
): () => Promise<readonly Family[] | undefined> {
  const askers = new Map<number, (families: readonly Family[]) => void>();
  let lastId = 0;
  process.on('message', (message) => {
    if (!isMessage(message)) return;
    if (message.metrics === 'tell') tellPrimary({ metrics: 'told', families: families() });
    if (message.metrics === 'gathered') askers.get(message.id)?.(message.families);
  });
  return async () => {
    const id = ++lastId;
    const { promise, resolve } = Promise.withResolvers<readonly Family[]>();
    askers.set(id, resolve);
    tellPrimary({ metrics: 'gather', id });
    const gathered = await Promise.race([promise, sleep(GATHER_MS_MAX, undefined, { ref: false })]);
    askers.delete(id);
    return gathered;
  };
}

/** Where there is none any more, this worker is ending, too. */
function tellPrimary(message: Message): void {
  process.send?.(message, undefined, undefined, () => {});
}

function isMessage(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'metrics' in message;
}
