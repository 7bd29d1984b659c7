import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeToken } from '../../conformance/tokens.ts';
import { scrape } from '../../testkit/scrape.ts';
import { send } from '../../testkit/service-process.ts';
import { raise } from '../figures.ts';
import { Loops } from '../loops.ts';
import type { Trial } from '../trial.ts';

/** Requests a second, sent whether or not earlier ones have a response, so that they pile up if nothing rejects them. */
export const RATE = 50;

const SAMPLE_MS = 250;

/** The metrics of what can pile up. The values of a metric are added. */
const METRICS = {
  'HTTP connections': 'bookkeeping_http_connections',
  'waiting calls': 'bookkeeping_store_waiting_calls',
  'connections of the pools': 'bookkeeping_store_pool_connections',
  'callers that wait for a connection': 'bookkeeping_store_pool_waiting',
  'open files': 'process_open_fds',
  'resident bytes': 'process_resident_memory_bytes',
} as const;

/** What a service holds at once. */
export type Held = Record<keyof typeof METRICS, number>;

/** The result of a function, and what was observed meanwhile. */
interface Observed<Result> {
  readonly result: Result;
  /** The maximum of each metric. */
  readonly most: Readonly<Held>;
  /** The slowest response. */
  readonly slowestMs: number;
  /** The slowest response that does not need the store, which shows how busy the machine is. */
  readonly slowestOtherMs: number;
}

/**
 * Sends requests at a constant rate while a function runs, and observes what piles up.
 *
 * @throws Error when a request gets no response, or another one than 200, 404 and 503
 */
export async function underPressure<Result>(
  trial: Trial,
  run: () => Promise<Result>,
): Promise<Observed<Result>> {
  const most = await readHeld(trial);
  const slowest = { store: 0, other: 0 };
  const loops = new Loops([
    (signal) => sendAtRate(trial, slowest, signal),
    async (signal) => {
      for (; !signal.aborted; await sleep(SAMPLE_MS)) {
        for (const [name, value] of Object.entries(await readHeld(trial))) raise(most, name, value);
      }
    },
  ]);
  try {
    const result = await run();
    await loops.stop();
    return { result, most, slowestMs: slowest.store, slowestOtherMs: slowest.other };
  } finally {
    await loops.stop();
  }
}

/** What a service holds now. */
export async function readHeld({ service }: Trial): Promise<Held> {
  const metrics = await scrape(service.url);
  const values = Object.entries(METRICS).map(([name, metric]) => {
    const samples = metrics.get(metric)?.samples ?? [];
    return [name, samples.reduce((sum, { value }) => sum + value, 0)] as const;
  });
  return Object.fromEntries(values) as Held;
}

async function sendAtRate(
  trial: Trial,
  slowest: Record<'store' | 'other', number>,
  signal: AbortSignal,
): Promise<void> {
  const token = makeToken(trial.target.secret);
  const request = async (needs: keyof typeof slowest, method: string, path: string) => {
    const startMs = performance.now();
    const { status } = await send(trial.service, method, path, { token });
    assert.ok([200, 404, 503].includes(status), `${method} ${path}: ${status}`);
    raise(slowest, needs, performance.now() - startMs);
  };
  const responses: Promise<unknown>[] = [];
  for (let index = 1; !signal.aborted; index++) {
    responses.push(
      Promise.all([
        index % 2 === 0 ? request('store', 'DELETE', UNUSED) : request('store', 'GET', `/book/${index}`),
        request('other', 'GET', '/book/x'),
      ]),
    );
    // The end of this function reports it.
    responses.at(-1)?.catch(() => {});
    await sleep(1_000 / RATE);
  }
  await Promise.all(responses);
}

/** The path of a book that does not exist. */
const UNUSED = '/book/9007199254740991';
