import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceProcess } from '../test/process/service-process.ts';
import { createFolder } from '../test/support/folder.ts';
import { findFreePort } from '../test/support/free-port.ts';
import { BookClient, type Target } from './book-client.ts';
import { Checker } from './checker.ts';
import { Clients, listBooks, newFields } from './clients.ts';
import { inspectStore } from './integrity.ts';
import { Journal, type Operation } from './journal.ts';
import { Random } from './random.ts';

/** How to run a trial. */
export interface TrialOptions {
  /** The address of the store, which is empty at the start. */
  readonly dbUrl: string;
  readonly seed: number;
  /** The number of clients in every round. Default: 16. */
  readonly clients?: number;
  /** Options of `node` itself. */
  readonly nodeOptions?: readonly string[];
  /** Environment variables of the service. */
  readonly variables?: Readonly<Record<string, string>>;
}

const CLIENTS = 16;

/** How many of the listed books the clients of the next round use. */
const SHARED_BOOKS = 8;

/**
 * A trial of one store and the service on it, round by round (see {@link Checker}). The service is a process that can be
 * killed and restarted on the same port. Disposing kills it.
 */
export class Trial implements AsyncDisposable {
  /** How many writes were acknowledged, and how many have an unknown outcome, in all rounds. */
  readonly writes = { acknowledged: 0, unknown: 0 };
  /** Where the service listens while it runs. */
  readonly target: Target;
  readonly #options: TrialOptions;
  readonly #folder: Awaited<ReturnType<typeof createFolder>>;
  readonly #checker = new Checker();
  #service: ServiceProcess | undefined;
  #shared: readonly number[] = [];
  #rounds = 0;

  private constructor(
    options: TrialOptions,
    target: Target,
    folder: Awaited<ReturnType<typeof createFolder>>,
  ) {
    this.#options = options;
    this.target = target;
    this.#folder = folder;
  }

  static async open(options: TrialOptions): Promise<Trial> {
    // A client of another trial whose service was killed may connect to this port: its secret is another one.
    const target = { port: await findFreePort(), secret: `secret of the trial ${randomUUID()}` };
    return new Trial(options, target, await createFolder());
  }

  /** The process id of the service. */
  get pid(): number {
    return this.#service?.pid ?? 0;
  }

  /** Starts the service. @returns milliseconds until it listens; @throws Error when it exits before */
  async start(): Promise<number> {
    const started = performance.now();
    await this.#launch().listening();
    return performance.now() - started;
  }

  /** Starts the service, and kills it after this time, whether it listens or not. */
  async startAndKill(afterMs: number): Promise<void> {
    this.#launch();
    await sleep(afterMs);
    await this.kill();
  }

  /** Stops the service with SIGSTOP; resolves when it is stopped. Needs Linux. */
  async pause(): Promise<void> {
    this.#service?.signal('SIGSTOP');
    while (!/\) T /.test(readFileSync(`/proc/${this.pid}/stat`, 'utf8'))) await sleep(1);
  }

  /** Kills the service with SIGKILL, also when it is stopped; asserts that its log has no confidential text. */
  async kill(): Promise<void> {
    await this.#service?.[Symbol.asyncDispose]();
  }

  /**
   * Runs clients while `disturb` injects faults. The service has to run when it resolves.
   *
   * @returns the violations, a sentence each
   */
  async round(disturb: (clients: Clients, journal: Journal) => Promise<void>): Promise<string[]> {
    const { seed, clients: count = CLIENTS } = this.#options;
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
      await disturb(clients, journal);
    } finally {
      await clients.stop();
    }
    return this.judge(journal);
  }

  /** Checks a round whose calls others made. The service has to run. @returns the violations, a sentence each */
  async judge(journal: Journal): Promise<string[]> {
    const { target } = this;
    const list = await listBooks(target);
    const violations = this.#checker.judge(journal.calls, list);
    this.writes.acknowledged += journal.acknowledged;
    this.writes.unknown += journal.unknown;
    this.#shared = list.slice(-SHARED_BOOKS).map(({ id }) => id);

    const replacement = await this.#replace(list.at(-1)?.id);
    violations.push(...this.#checker.judge(replacement.calls, await listBooks(target)));
    return [...violations, ...(await inspectStore(this.#options.dbUrl))];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service?.[Symbol.asyncDispose]();
    await this.#folder[Symbol.asyncDispose]();
  }

  /** Deletes the book with the highest id, and creates another, which must get a new id. */
  async #replace(newest: number | undefined): Promise<Journal> {
    using client = new BookClient(this.target);
    const journal = new Journal();
    const operations: Operation[] = [{ kind: 'create', sent: newFields(new Random(this.#rounds)) }];
    if (newest !== undefined) operations.unshift({ kind: 'delete', id: newest });
    for (const operation of operations) await journal.record(operation, () => client.perform(operation));
    return journal;
  }

  #launch(): ServiceProcess {
    const { dbUrl, variables, nodeOptions } = this.#options;
    const { port, secret } = this.target;
    this.#service = new ServiceProcess(
      this.#folder.path,
      { DB_URL: dbUrl, PORT: `${port}`, SECRET_TOKEN: secret, AUTH_PASSWORD: 'unused', ...variables },
      nodeOptions,
    );
    return this.#service;
  }
}

/** Throws when there are violations. */
export function assertNoViolations(violations: readonly string[], round: number): void {
  assert.deepEqual(violations, [], `round ${round}`);
}

/** Options that give the service a store with one of the faults in faulty-store.ts. */
export function withFault(fault: string): Pick<TrialOptions, 'nodeOptions' | 'variables'> {
  return { nodeOptions: ['--import', join(import.meta.dirname, 'planted.ts')], variables: { FAULT: fault } };
}
