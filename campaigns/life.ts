import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceProcess } from '../test/process/service-process.ts';
import { createFolder } from '../test/support/folder.ts';
import { findFreePort } from '../test/support/free-port.ts';
import { Chance } from './chance.ts';
import { Checker } from './checker.ts';
import { Clients, listBooks, newContents } from './clients.ts';
import { inspectStore } from './integrity.ts';
import { Journal, type Wish } from './journal.ts';
import { Line, type Target } from './line.ts';

/** How a life is to be. */
export interface Circumstances {
  /** Where the books are; nothing is there at the beginning. */
  readonly dbUrl: string;
  readonly seed: number;
  /** How many clients there are in every round. */
  readonly clients?: number;
  /** What `node` gets before the service's own file. */
  readonly nodeOptions?: readonly string[];
  /** Environment of the service. */
  readonly variables?: Readonly<Record<string, string>>;
}

const CLIENTS = 16;

/** How many of the listed books the clients of the next round go on with. */
const SHARED_BOOKS = 8;

/**
 * The life of one store and of the service on it, from round to round: see {@link Checker}. The service is a process
 * of its own that can be killed and started again; it keeps its address. Disposing kills it.
 */
export class Life implements AsyncDisposable {
  /** How many writes were acknowledged, and how many ended without anybody knowing, in all rounds so far. */
  readonly writes = { acknowledged: 0, unknown: 0 };
  /** Where the service listens, whenever it runs. */
  readonly target: Target;
  readonly #circumstances: Circumstances;
  readonly #folder: Awaited<ReturnType<typeof createFolder>>;
  readonly #checker = new Checker();
  #service: ServiceProcess | undefined;
  #shared: readonly number[] = [];
  #rounds = 0;

  private constructor(
    circumstances: Circumstances,
    target: Target,
    folder: Awaited<ReturnType<typeof createFolder>>,
  ) {
    this.#circumstances = circumstances;
    this.target = target;
    this.#folder = folder;
  }

  static async begin(circumstances: Circumstances): Promise<Life> {
    // Clients of another life that has lost its service may try this port: they have another secret.
    const target = { port: await findFreePort(), secret: `secret of the life ${randomUUID()}` };
    return new Life(circumstances, target, await createFolder());
  }

  /** The id of the service's process. */
  get pid(): number {
    return this.#service?.pid ?? 0;
  }

  /** Starts the service. @returns how long it took to listen, in milliseconds; @throws Error when it does not */
  async start(): Promise<number> {
    const started = performance.now();
    await this.#launch().listening();
    return performance.now() - started;
  }

  /** Starts the service, and kills it after so many milliseconds, wherever it is by then. */
  async startAndKill(afterMs: number): Promise<void> {
    this.#launch();
    await sleep(afterMs);
    await this.kill();
  }

  /** Halts the service with SIGSTOP; resolves when it cannot answer any more. It needs Linux. */
  async halt(): Promise<void> {
    this.#service?.signal('SIGSTOP');
    while (!/\) T /.test(readFileSync(`/proc/${this.pid}/stat`, 'utf8'))) await sleep(1);
  }

  /** Ends the service with SIGKILL, also one that is halted, and asserts that its log tells nothing. */
  async kill(): Promise<void> {
    await this.#service?.[Symbol.asyncDispose]();
  }

  /**
   * Lets clients call while something befalls the service, which has to run at the end.
   *
   * @returns the verdict: what is wrong, in a sentence each
   */
  async round(befall: (clients: Clients, journal: Journal) => Promise<void>): Promise<string[]> {
    const { seed, clients: count = CLIENTS } = this.#circumstances;
    const { target } = this;
    const journal = new Journal();
    const clients = new Clients({
      target,
      journal,
      count,
      seed: seed + this.#rounds++,
      shared: this.#shared,
    });
    try {
      await befall(clients, journal);
    } finally {
      await clients.stop();
    }
    return this.judge(journal);
  }

  /** Judges a round whose calls were made by others. The service has to run. @returns the verdict */
  async judge(journal: Journal): Promise<string[]> {
    const { target } = this;
    const list = await listBooks(target);
    const faults = this.#checker.judge(journal.calls, list);
    this.writes.acknowledged += journal.acknowledged;
    this.writes.unknown += journal.unknown;
    this.#shared = list.slice(-SHARED_BOOKS).map(({ id }) => id);

    const replacement = await this.#replace(list.at(-1)?.id);
    faults.push(...this.#checker.judge(replacement.calls, await listBooks(target)));
    return [...faults, ...(await inspectStore(this.#circumstances.dbUrl))];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service?.[Symbol.asyncDispose]();
    await this.#folder[Symbol.asyncDispose]();
  }

  /** Deletes the book with the highest id, and creates another, which must not get this id. */
  async #replace(newest: number | undefined): Promise<Journal> {
    using line = new Line(this.target);
    const journal = new Journal();
    const wishes: Wish[] = [{ kind: 'create', sent: newContents(new Chance(this.#rounds)) }];
    if (newest !== undefined) wishes.unshift({ kind: 'delete', id: newest });
    for (const wish of wishes) await journal.note(wish, () => line.ask(wish));
    return journal;
  }

  #launch(): ServiceProcess {
    const { dbUrl, variables, nodeOptions } = this.#circumstances;
    const { port, secret } = this.target;
    this.#service = new ServiceProcess(
      this.#folder.path,
      { DB_URL: dbUrl, PORT: `${port}`, SECRET_TOKEN: secret, AUTH_PASSWORD: 'unused', ...variables },
      nodeOptions,
    );
    return this.#service;
  }
}

/** Throws when a verdict is not clean. */
export function assertClean(verdict: readonly string[], round: number): void {
  assert.deepEqual(verdict, [], `round ${round}`);
}

/** Circumstances in which the service's store has one of the faults in faulty-store.ts. */
export function planted(fault: string): Pick<Circumstances, 'nodeOptions' | 'variables'> {
  return { nodeOptions: ['--import', join(import.meta.dirname, 'planted.ts')], variables: { FAULT: fault } };
}
