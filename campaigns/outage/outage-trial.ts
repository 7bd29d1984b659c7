import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeToken } from '../../conformance/tokens.ts';
import { LOGIN } from '../../test/http/service.ts';
import { type ServiceProcess, send } from '../../test/process/service-process.ts';
import { createFolder } from '../../test/support/folder.ts';
import { Clients } from '../clients.ts';
import { Trial } from '../trial.ts';
import { startServiceAt, stopCleanly } from './service.ts';
import { type Exchange, TimedJournal } from './timed-journal.ts';

/** An outage of a store. */
export interface Outage {
  /** Whether the store is down from begin to end. Otherwise it only closes connections, or recovers by itself. */
  readonly isDown: boolean;
  /** The minimum length, in milliseconds; it lasts until as many requests were rejected as there are clients. */
  readonly lastsMs: number;
  /** Causes it. */
  begin(): Promise<void>;
  /** Ends it; resolves when the store is available. */
  end(): Promise<void>;
}

/** The waits of clients during an outage, in milliseconds. */
export interface Waits {
  /** The slowest response. */
  readonly slowestMs: number;
  /** From the end of the outage to the first acknowledged write. */
  readonly firstMs: number;
  /** From the end of the outage to the last 503; 0 without one. */
  readonly last503Ms: number;
}

const CLIENTS = 16;

/** The minimum of acknowledged writes before and after an outage. */
const WRITES = 100;

/** A service in a process of its own that loses its store again and again, and the life of that store. */
export class OutageTrial implements AsyncDisposable {
  readonly #trial: Trial;
  readonly #service: ServiceProcess;
  readonly #resources: AsyncDisposableStack;
  /** Rejects when the service exits. */
  readonly #exited: Promise<never>;
  #seed: number;

  private constructor(trial: Trial, service: ServiceProcess, resources: AsyncDisposableStack, seed: number) {
    this.#trial = trial;
    this.#service = service;
    this.#resources = resources;
    this.#seed = seed;
    this.#exited = service.ended().then(({ complaints }) => {
      throw new Error(`the service has exited: ${complaints}`);
    });
    this.#exited.catch(() => {});
  }

  /** Starts the service on an empty store. */
  static async start(dbUrl: string, seed: number): Promise<OutageTrial> {
    await using resources = new AsyncDisposableStack();
    const trial = resources.use(await Trial.open({ dbUrl, seed }));
    const folder = resources.use(await createFolder());
    const service = resources.use(await startServiceAt(trial.target, folder.path, dbUrl));
    return new OutageTrial(trial, service, resources.move(), seed);
  }

  /** How many writes were acknowledged, and how many ended without anybody knowing, in all outages so far. */
  get writes(): Trial['writes'] {
    return this.#trial.writes;
  }

  /**
   * Runs clients through an outage. Asserts that every request got a response, 503 at worst and always 503 while the store
   * was down, and that there are no violations.
   */
  async runThrough(outage: Outage): Promise<Waits> {
    const journal = new TimedJournal();
    const load = { target: this.#trial.target, journal, count: CLIENTS, seed: this.#seed++ };
    const clients = new Clients(load);
    let [downMs, returningMs, backMs] = [0, 0, 0];
    try {
      await clients.progress(WRITES);
      await outage.begin();
      downMs = performance.now();
      if (outage.isDown) await this.#withoutStore(journal, outage.lastsMs);
      returningMs = performance.now();
      await outage.end();
      backMs = performance.now();
      await clients.progress(WRITES);
    } finally {
      await clients.stop();
    }
    for (const exchange of journal.exchanges) {
      if (is503(exchange)) continue;
      assert.notEqual(exchange.outcome.is, 'unknown', JSON.stringify(exchange));
      const isWithin = exchange.startMs > downMs && exchange.endMs < returningMs;
      assert.ok(!isWithin || !outage.isDown, `not 503 during the outage: ${JSON.stringify(exchange)}`);
    }
    assert.deepEqual(await this.#trial.judge(journal), []);
    return waitsOf(journal.exchanges, backMs);
  }

  /** Stops the service, and asserts that it exits with 0 and logged no error. */
  stop(): Promise<void> {
    return stopCleanly(this.#service);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }

  /** Resolves when the store was down for this long, and as many requests were rejected as there are clients. */
  async #withoutStore({ exchanges }: TimedJournal, lastsMs: number): Promise<void> {
    const isOver = sleep(lastsMs);
    const before = exchanges.length;
    await this.#assertOthersServed();
    while (exchanges.slice(before).filter(is503).length < CLIENTS) {
      await Promise.race([sleep(5), this.#exited]);
    }
    await isOver;
  }

  /** Asserts the responses to requests that no journal has, during the outage. */
  async #assertOthersServed(): Promise<void> {
    const token = makeToken(this.#trial.target.secret, {});
    const [list, badChange, unknownId, login] = await Promise.all([
      send(this.#service, 'GET', '/books', { token }),
      send(this.#service, 'PUT', '/book/1', { token, body: '{' }),
      send(this.#service, 'GET', '/book/x', { token }),
      send(this.#service, 'POST', '/token', { body: LOGIN }),
    ]);
    const unavailable = { status: 503, message: 'Service unavailable', data: null };
    assert.deepEqual([list, badChange], [unavailable, unavailable]);
    assert.deepEqual([unknownId.status, login.status], [404, 200]);
  }
}

function is503({ outcome }: Exchange): boolean {
  return outcome.is === 'unknown' && outcome.reason === 'status 503';
}

function waitsOf(exchanges: readonly Exchange[], backMs: number): Waits {
  const first = exchanges.find(
    ({ operation, outcome, endMs }) => operation.kind !== 'find' && outcome.is === 'done' && endMs >= backMs,
  );
  const last503 = exchanges.findLast(is503);
  return {
    slowestMs: exchanges.reduce((slowest, { startMs, endMs }) => Math.max(slowest, endMs - startMs), 0),
    firstMs: (first?.endMs ?? Number.NaN) - backMs,
    last503Ms: Math.max(0, (last503?.endMs ?? 0) - backMs),
  };
}
