import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeToken } from '../conformance/tokens.ts';
import { LOGIN } from '../testkit/service.ts';
import { send } from '../testkit/service-process.ts';
import type { Journal, TimedCall } from './journal.ts';
import type { Trial } from './trial.ts';

/** An outage of a store, which is down from begin to end. */
export interface Outage {
  /** The minimum length, in milliseconds; it lasts until as many requests were rejected as there are clients. */
  readonly lastsMs: number;
  /** Whether another server is the primary afterwards, and the former one has ended when `begin` resolves. */
  readonly isFailover?: boolean;
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

/** The waits of clients, for a report. */
export function describeWaits({ slowestMs, firstMs, last503Ms }: Waits): string {
  const [slowest, first, last] = [slowestMs, firstMs, last503Ms].map((ms) => `${Math.round(ms)} ms`);
  return `slowest response ${slowest}; after the outage: first success ${first}, last 503 ${last}`;
}

const CLIENTS = 16;

/** The minimum of acknowledged writes before and after an outage. */
const WRITES = 100;

/**
 * Runs clients through an outage. Asserts that every request got a response, 503 at worst and always 503 while the store
 * was down, and that there are no violations.
 */
export async function runOutage(trial: Trial, outage: Outage): Promise<Waits> {
  let [downMs, returningMs, backMs] = [0, 0, 0];
  let primaryEnd: number | undefined;
  const journal = await trial.underLoad(
    async (clients, current) => {
      const { calls } = current;
      await clients.progress(WRITES);
      await outage.begin();
      if (outage.isFailover) primaryEnd = current.mark();
      downMs = performance.now();
      await stayDown(trial, calls, outage.lastsMs);
      returningMs = performance.now();
      await outage.end();
      backMs = performance.now();
      await clients.progress(WRITES);
    },
    [{ count: CLIENTS }],
  );
  for (const call of journal.calls) {
    if (is503(call)) continue;
    assert.notEqual(call.outcome.is, 'unknown', JSON.stringify(call));
    const isWithin = call.startMs > downMs && call.endMs < returningMs;
    assert.ok(!isWithin, `not 503 during the outage: ${JSON.stringify(call)}`);
  }
  assert.deepEqual(await trial.judge(journal, primaryEnd), []);
  return waitsIn(journal, backMs);
}

/** Resolves when the store was down for this long, and as many requests were rejected as there are clients. */
async function stayDown(trial: Trial, calls: readonly TimedCall[], lastsMs: number): Promise<void> {
  const isOver = sleep(lastsMs);
  const before = calls.length;
  await assertOthersServed(trial);
  const exited = trial.service.ended().then(({ complaints }) => {
    throw new Error(`the service has exited: ${complaints}`);
  });
  exited.catch(() => {});
  while (calls.slice(before).filter(is503).length < CLIENTS) await Promise.race([sleep(5), exited]);
  await isOver;
}

/** Asserts the responses to requests that the clients do not send, during the outage. */
async function assertOthersServed({ target, service }: Trial): Promise<void> {
  const token = makeToken(target.secret);
  const [list, badChange, unknownId, login] = await Promise.all([
    send(service, 'GET', '/books', { token }),
    send(service, 'PUT', '/book/1', { token, body: '{' }),
    send(service, 'GET', '/book/x', { token }),
    send(service, 'POST', '/token', { body: LOGIN }),
  ]);
  const unavailable = { status: 503, message: 'Service unavailable', data: null };
  assert.deepEqual([list, badChange], [unavailable, unavailable]);
  assert.deepEqual([unknownId.status, login.status], [404, 200]);
}

function is503({ outcome }: TimedCall): boolean {
  return outcome.is === 'unknown' && outcome.reason === 'status 503';
}

function waitsIn(journal: Journal, backMs: number): Waits {
  const { calls } = journal;
  return {
    slowestMs: calls.reduce((slowest, { startMs, endMs }) => Math.max(slowest, endMs - startMs), 0),
    firstMs: journal.firstWriteMs(backMs),
    last503Ms: Math.max(0, (calls.findLast(is503)?.endMs ?? 0) - backMs),
  };
}
