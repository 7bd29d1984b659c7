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

/** What takes a store away from its service. */
export interface Outage {
  /** Whether the store is away from begin to end. Otherwise it only loses its connections, or returns by itself. */
  readonly isAway: boolean;
  /** How long it is away at least, in milliseconds: until as many requests were refused as there are clients. */
  readonly lastsMs: number;
  /** Resolves when it has happened. */
  begin(): Promise<void>;
  /** Resolves when the store is back. */
  end(): Promise<void>;
}

/** What clients noticed of an outage, in milliseconds. */
export interface Waits {
  /** The longest that anybody waited for an answer. */
  readonly slowestMs: number;
  /** From the store's return to the first write that was acknowledged. */
  readonly firstMs: number;
  /** From the store's return to the last refusal; 0 when there was none. */
  readonly lastRefusalMs: number;
}

const CLIENTS = 16;

/** How many writes are acknowledged before an outage, at least, and after it. */
const WRITES = 100;

/** A service in a process of its own that loses its store again and again, and the life of that store. */
export class OutageTrial implements AsyncDisposable {
  readonly #trial: Trial;
  readonly #service: ServiceProcess;
  readonly #resources: AsyncDisposableStack;
  /** Rejects when the service ends. */
  readonly #death: Promise<never>;
  #seed: number;

  private constructor(trial: Trial, service: ServiceProcess, resources: AsyncDisposableStack, seed: number) {
    this.#trial = trial;
    this.#service = service;
    this.#resources = resources;
    this.#seed = seed;
    this.#death = service.ended().then(({ complaints }) => {
      throw new Error(`the service has ended: ${complaints}`);
    });
    this.#death.catch(() => {});
  }

  /** Starts the service on a store with nothing in it. */
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
   * Lets clients write and read through an outage. Asserts that all their requests were answered, with 503 at worst
   * and with nothing else while the store was away, and that the verdict is clean.
   */
  async runThrough(outage: Outage): Promise<Waits> {
    const journal = new TimedJournal();
    const load = { target: this.#trial.target, journal, count: CLIENTS, seed: this.#seed++ };
    const clients = new Clients(load);
    let [awayMs, returningMs, backMs] = [0, 0, 0];
    try {
      await clients.progress(WRITES);
      await outage.begin();
      awayMs = performance.now();
      if (outage.isAway) await this.#withoutStore(journal, outage.lastsMs);
      returningMs = performance.now();
      await outage.end();
      backMs = performance.now();
      await clients.progress(WRITES);
    } finally {
      await clients.stop();
    }
    for (const exchange of journal.exchanges) {
      if (isRefusal(exchange)) continue;
      assert.notEqual(exchange.outcome.is, 'unknown', JSON.stringify(exchange));
      const isWithin = exchange.startMs > awayMs && exchange.endMs < returningMs;
      assert.ok(!isWithin || !outage.isAway, `answered without a store: ${JSON.stringify(exchange)}`);
    }
    assert.deepEqual(await this.#trial.judge(journal), []);
    return waitsOf(journal.exchanges, backMs);
  }

  /** Ends the service, and asserts that it has lived to see this, and has met no defect. */
  stop(): Promise<void> {
    return stopCleanly(this.#service);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }

  /** Resolves when the store was away for so long, and as many requests were refused as there are clients. */
  async #withoutStore({ exchanges }: TimedJournal, lastsMs: number): Promise<void> {
    const isOver = sleep(lastsMs);
    const before = exchanges.length;
    await this.#assertOthersServed();
    while (exchanges.slice(before).filter(isRefusal).length < CLIENTS) {
      await Promise.race([sleep(5), this.#death]);
    }
    await isOver;
  }

  /** Asserts how requests are answered without a store that are not in a journal. */
  async #assertOthersServed(): Promise<void> {
    const token = makeToken(this.#trial.target.secret, {});
    const [list, badChange, unknownId, login] = await Promise.all([
      send(this.#service, 'GET', '/books', { token }),
      send(this.#service, 'PUT', '/book/1', { token, body: '{' }),
      send(this.#service, 'GET', '/book/x', { token }),
      send(this.#service, 'POST', '/token', { body: LOGIN }),
    ]);
    const refusal = { status: 503, message: 'Service unavailable', data: null };
    assert.deepEqual([list, badChange], [refusal, refusal]);
    assert.deepEqual([unknownId.status, login.status], [404, 200]);
  }
}

function isRefusal({ outcome }: Exchange): boolean {
  return outcome.is === 'unknown' && outcome.reason === 'status 503';
}

function waitsOf(exchanges: readonly Exchange[], backMs: number): Waits {
  const first = exchanges.find(
    ({ operation, outcome, endMs }) => operation.kind !== 'find' && outcome.is === 'done' && endMs >= backMs,
  );
  const lastRefusal = exchanges.findLast(isRefusal);
  return {
    slowestMs: exchanges.reduce((slowest, { startMs, endMs }) => Math.max(slowest, endMs - startMs), 0),
    firstMs: (first?.endMs ?? Number.NaN) - backMs,
    lastRefusalMs: Math.max(0, (lastRefusal?.endMs ?? 0) - backMs),
  };
}
