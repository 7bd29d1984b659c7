import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../../testkit/sql.ts';
import type { CampaignOptions, Form } from '../campaign.ts';
import { raise } from '../figures.ts';
import { describeWaits, type Outage, runOutage } from '../run-outage.ts';
import { Trial } from '../trial.ts';
import { type Held, RATE, readHeld, underPressure } from './pressure.ts';

/** The extent of outages. */
export interface OutageForm extends Form {
  /** The fraction of their full length that the long ones take. */
  readonly share: number;
  /** Whether times, connections and memory are checked. */
  readonly isTimed: boolean;
}

/** The time limit of every response, besides the delays of a busy machine: a PUT needs two statements, each of which ends within 1.6 s. */
const RESPONSE_MS_MAX = 3_500;
/** The time limit from the end of an outage to the first acknowledged write. */
const WRITING_MS_MAX = 5_000;

/** Causes every outage in every round, on the way to the database at `dbUrl`. @returns the worst of all */
export async function runOutages(
  { rounds, seed, report }: CampaignOptions,
  { isTimed }: OutageForm,
  dbUrl: string,
  outages: Readonly<Record<string, Outage>>,
): Promise<Record<string, number>> {
  await using trial = await Trial.open({ dbUrl, seed });
  await trial.start();
  const figures: Record<string, number> = { outages: 0 };
  for (let round = 1; round <= rounds; round++) {
    for (const [name, outage] of Object.entries(outages)) {
      const before = await readHeld(trial);
      const { result, most, slowestMs, slowestOtherMs } = await underPressure(trial, () =>
        runOutage(trial, outage),
      );
      const waits = { ...result, slowestMs: Math.max(slowestMs, result.slowestMs) };
      const server = await serverConnections(trial, dbUrl);
      report(
        `${round}: ${name}: ${describeWaits(waits)}, without the store ${Math.round(slowestOtherMs)} ms; at most ${JSON.stringify({ ...most, ...server })}`,
      );
      if (isTimed) {
        assertBounded(before, most);
        assert.ok(server[UNTIL_CLOSED] <= NOTICE_MS_MAX, 'the server keeps connections that are given up');
        assert.ok(
          waits.slowestMs <= RESPONSE_MS_MAX + slowestOtherMs,
          `${name}: a response took ${waits.slowestMs} ms`,
        );
        assert.ok(
          waits.firstMs <= WRITING_MS_MAX,
          `${name}: no write was acknowledged for ${waits.firstMs} ms`,
        );
      }
      figures.outages = (figures.outages ?? 0) + 1;
      const seen = {
        'slowest response, ms': waits.slowestMs,
        'first write after it, ms': waits.firstMs,
        'most waiting calls': most['waiting calls'],
        'most additional memory, MB': (most['resident bytes'] - before['resident bytes']) / 1e6,
        [UNTIL_CLOSED]: server[UNTIL_CLOSED],
      };
      for (const [what, value] of Object.entries(seen)) raise(figures, what, Math.round(value));
    }
  }
  await trial.stop();
  return { ...trial.writes, ...figures };
}

/** The connections of a process (docs/limits.md). */
const POOLS_MAX = 13;

/** The requests of 16 clients and of five seconds. */
const REQUESTS_MAX = 16 + 5 * RATE;

const MEMORY_MAX = 128 * 1_024 * 1_024;

/** Asserts that nothing piled up. */
function assertBounded(before: Held, most: Held): void {
  const bounds: Held = {
    'HTTP connections': REQUESTS_MAX,
    'waiting calls': REQUESTS_MAX,
    'connections of the pools': POOLS_MAX,
    'callers that wait for a connection': POOLS_MAX,
    'open files': before['open files'] + REQUESTS_MAX + 2 * POOLS_MAX,
    'resident bytes': before['resident bytes'] + MEMORY_MAX,
  };
  for (const [name, bound] of Object.entries(bounds)) {
    const value = most[name as keyof Held];
    assert.ok(value <= bound, `${name}: ${value}, more than ${bound}`);
  }
}

/** The time limit for the server to close connections that the service has given up. It does so after 30 seconds. */
const NOTICE_MS_MAX = 40_000;

const AFTER = 'connections at the server after it';
const UNTIL_CLOSED = 'until those given up are closed, ms';

/** The connections at the server; resolves when those that the service has given up are closed there, too. */
async function serverConnections(
  trial: Trial,
  url: string,
): Promise<{ [AFTER]: number; [UNTIL_CLOSED]: number }> {
  const startMs = performance.now();
  const first = await countConnections(url);
  for (let count = first; ; count = await countConnections(url)) {
    const { 'connections of the pools': used } = await readHeld(trial);
    if (count <= used) return { [AFTER]: first, [UNTIL_CLOSED]: performance.now() - startMs };
    await sleep(200);
  }
}

async function countConnections(url: string): Promise<number> {
  const sql = `select count(*)::integer as count from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;
  const [row] = await query(url, sql);
  return Number(row?.count);
}
