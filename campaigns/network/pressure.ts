import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeToken } from '../../conformance/tokens.ts';
import { scrape } from '../../test/metrics/scrape.ts';
import { send } from '../../test/process/service-process.ts';
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
export interface Observed<Result> {
  readonly result: Result;
  /** The maximum of each metric. */
  readonly most: Readonly<Held>;
  /** The slowest response. */
  readonly slowestMs: number;
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
  const latenciesMs: number[] = [];
  const loops = new Loops([
    (signal) => sendAtRate(trial, latenciesMs, signal),
    async (signal) => {
      for (; !signal.aborted; await sleep(SAMPLE_MS)) {
        for (const [name, value] of Object.entries(await readHeld(trial))) raise(most, name, value);
      }
    },
  ]);
  try {
    const result = await run();
    await loops.stop();
    return { result, most, slowestMs: Math.max(...latenciesMs) };
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

async function sendAtRate(trial: Trial, latenciesMs: number[], signal: AbortSignal): Promise<void> {
  const token = makeToken(trial.target.secret);
  const responses: Promise<void>[] = [];
  for (let index = 0; !signal.aborted; index++) {
    const isWrite = index % 2 === 0;
    responses.push(
      (async () => {
        const startMs = performance.now();
        const path = isWrite ? '/book/9007199254740991' : `/book/${index}`;
        const { status } = await send(trial.service, isWrite ? 'DELETE' : 'GET', path, { token });
        assert.ok([200, 404, 503].includes(status), `${path}: ${status}`);
        latenciesMs.push(performance.now() - startMs);
      })(),
    );
    responses.at(-1)?.catch(() => {});
    await sleep(1_000 / RATE);
  }
  await Promise.all(responses);
}
