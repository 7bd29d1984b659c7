import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Book } from '../src/book/contract.ts';
import { createFolder } from '../testkit/folder.ts';
import { findFreePort } from '../testkit/free-port.ts';
import { parseLog } from '../testkit/log.ts';
import { PASSWORD, USERNAME } from '../testkit/service.ts';
import { ServiceProcess } from '../testkit/service-process.ts';
import { BookClient, type Target } from './book-client.ts';
import { Checker } from './checker.ts';
import { Clients, type ClientsOptions, listBooks, newFields } from './clients.ts';
import { inspectStore } from './integrity.ts';
import { Journal } from './journal.ts';
import { Random } from './random.ts';

/** How to run a trial. */
interface TrialOptions {
  /** The address of the store, which is empty at the start. */
  readonly dbUrl: string;
  readonly seed: number;
  /** Options of `node` itself. */
  readonly nodeOptions?: readonly string[];
  /** Environment variables of the services. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** The number of clients in a group, unless the group says otherwise. */
const CLIENTS = 16;

/** How many of the listed books the clients of the next round use. */
const SHARED_BOOKS = 8;

/**
 * A trial of one store and the services on it, round by round (see {@link Checker}). A service is a process that can be
 * killed and restarted on the same port. Disposing kills all.
 */
export class Trial implements AsyncDisposable {
  /** How many writes were acknowledged, and how many have an unknown outcome, in all rounds. */
  readonly writes = { acknowledged: 0, unknown: 0 };
  /** Where clients send their requests. */
  readonly target: Target;
  readonly #options: TrialOptions;
  readonly #folder: Awaited<ReturnType<typeof createFolder>>;
  readonly #checker = new Checker();
  /** The last service on each port. */
  readonly #services = new Map<number, ServiceProcess>();
  #shared: readonly number[] = [];
  #seed: number;

  private constructor(
    options: TrialOptions,
    target: Target,
    folder: Awaited<ReturnType<typeof createFolder>>,
  ) {
    this.#options = options;
    this.target = target;
    this.#folder = folder;
    this.#seed = options.seed;
  }

  static async open(options: TrialOptions): Promise<Trial> {
    // A client of another trial whose service was killed may connect to this port: its secret is another one.
    const target = { port: await findFreePort(), secret: `secret of the trial ${randomUUID()}` };
    return new Trial(options, target, await createFolder());
  }

  /** The service on the port of the target. */
  get service(): ServiceProcess {
    return this.#on(this.target.port);
  }

  /** See {@link Checker.vanished}. */
  get vanished(): number {
    return this.#checker.vanished;
  }

  /** The standard output of the last service on each port. */
  get outputs(): readonly string[] {
    return [...this.#services.values()].map(({ output }) => output);
  }

  /** Starts a service. @returns milliseconds until it listens; @throws Error when it exits before */
  async start(port = this.target.port): Promise<number> {
    const started = performance.now();
    await this.#launch(port).listening();
    return performance.now() - started;
  }

  /** Starts the service, and kills it after this time, whether it listens or not. */
  async startAndKill(afterMs: number): Promise<void> {
    this.#launch(this.target.port);
    await sleep(afterMs);
    await this.kill();
  }

  /** Stops the service with SIGSTOP; resolves when it is stopped. Needs Linux. */
  async pause(): Promise<void> {
    this.service.signal('SIGSTOP');
    while (!/\) T /.test(readFileSync(`/proc/${this.service.pid}/stat`, 'utf8'))) await sleep(1);
  }

  /** Kills the service with SIGKILL, also when it is stopped; asserts that its log has no confidential text. */
  async kill(): Promise<void> {
    await this.service[Symbol.asyncDispose]();
  }

  /** Stops a service with SIGTERM; asserts that it exits with 0 and logged no error. @returns milliseconds until it exits */
  async stop(port = this.target.port): Promise<number> {
    const started = performance.now();
    const { code, output, complaints } = await this.#on(port).stop();
    const elapsedMs = performance.now() - started;
    assert.deepEqual([code, complaints], [0, '']);
    const errors = parseLog(output.trim().split('\n')).filter(({ err }) => err);
    assert.deepEqual(errors, []);
    return elapsedMs;
  }

  /**
   * Runs a round. The service has to run when `disturb` resolves.
   *
   * @param ports of the services among which the clients are divided
   * @returns the violations, a sentence each
   */
  async round(
    disturb: (clients: Clients, journal: Journal) => Promise<void>,
    ports: readonly number[] = [this.target.port],
  ): Promise<string[]> {
    const groups = ports.map((port) => ({
      target: { ...this.target, port },
      count: CLIENTS / ports.length,
      shared: this.#shared,
    }));
    return this.judge(await this.underLoad(disturb, groups));
  }

  /**
   * Runs groups of clients while `disturb` injects faults.
   *
   * @param disturb is passed the first group
   * @param journal records the calls
   */
  async underLoad(
    disturb: (clients: Clients, journal: Journal) => Promise<void>,
    groups: readonly Partial<ClientsOptions>[] = [{ shared: this.#shared }],
    journal = new Journal(),
  ): Promise<Journal> {
    const options = { target: this.target, journal, count: CLIENTS };
    const clients = groups.map((group) => new Clients({ ...options, seed: this.#seed++, ...group }));
    try {
      await disturb(clients[0] as Clients, journal);
    } finally {
      await Promise.all(clients.map((group) => group.stop()));
    }
    return journal;
  }

  /**
   * Checks the calls of a round. The service has to run.
   *
   * @param primaryEnd see {@link Checker.judge}
   * @returns the violations, a sentence each
   */
  async judge(journal: Journal, primaryEnd?: number): Promise<string[]> {
    const { target } = this;
    const list = await listBooks(target);
    const violations = this.#checker.judge(journal.calls, list, primaryEnd);
    // Stores with a planted fault cannot search.
    if (this.#options.variables?.FAULT === undefined)
      violations.push(...searchViolations(list, await listBooks(target, '?q=title&sort=title')));
    this.writes.acknowledged += journal.acknowledged;
    this.writes.unknown += journal.unknown;
    this.#shared = list.slice(-SHARED_BOOKS).map(({ id }) => id);

    const replacement = await this.#replace(list.at(-1)?.id);
    violations.push(...this.#checker.judge(replacement.calls, await listBooks(target)));
    return [...violations, ...(await inspectStore(this.#options.dbUrl))];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const service of this.#services.values()) await service[Symbol.asyncDispose]();
    await this.#folder[Symbol.asyncDispose]();
  }

  /** Deletes the book with the highest id, and creates another, which must get a new id. */
  async #replace(newest: number | undefined): Promise<Journal> {
    const journal = new Journal();
    using client = new BookClient(this.target, journal);
    if (newest !== undefined) await client.perform({ kind: 'delete', id: newest });
    await client.perform({ kind: 'create', sent: newFields(new Random(this.#seed)) });
    return journal;
  }

  #on(port: number): ServiceProcess {
    return this.#services.get(port) as ServiceProcess;
  }

  #launch(port: number): ServiceProcess {
    const { dbUrl, variables, nodeOptions } = this.#options;
    const credentials = {
      SECRET_TOKEN: this.target.secret,
      AUTH_USERNAME: USERNAME,
      AUTH_PASSWORD: PASSWORD,
    };
    const service = new ServiceProcess(
      this.#folder.path,
      { DB_URL: dbUrl, PORT: `${port}`, ...credentials, ...variables },
      nodeOptions,
    );
    this.#services.set(port, service);
    return service;
  }
}

/** Compares a search by the index with the list. @returns the differences, a sentence each */
function searchViolations(list: readonly Book[], found: readonly Book[]): string[] {
  const expected = list.filter(({ title }) => title.startsWith('title '));
  const sorted = found.toSorted((one, other) => one.id - other.id);
  return isDeepStrictEqual(sorted, expected)
    ? []
    : [`a search found ${found.length} books, and not the ${expected.length} of the list`];
}

/** Options that give the service a store with one of the faults in faulty-store.ts. */
export function withFault(fault: string): Pick<TrialOptions, 'nodeOptions' | 'variables'> {
  return {
    nodeOptions: ['--import', join(import.meta.dirname, 'faulty-store.ts')],
    variables: { FAULT: fault },
  };
}
