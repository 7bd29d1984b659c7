import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, startCluster } from '../../testkit/postgres.ts';
import { Relay } from '../../testkit/relay.ts';
import { query } from '../../testkit/sql.ts';
import { withPort } from '../../testkit/with-port.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { raise } from '../figures.ts';
import { describeWaits } from '../outage/campaign.ts';
import { type Outage, runOutage } from '../outage/run-outage.ts';
import { Random } from '../random.ts';
import { Trial } from '../trial.ts';
import { lossesOf, relayFaultsOf } from './faults.ts';
import { Link } from './link.ts';
import { type Held, RATE, readHeld, underPressure } from './pressure.ts';

export const campaign: Campaign = {
  summary:
    'the network between the service and PostgreSQL loses packets without a reset, or a relay in it stalls and cuts connections, under 16 clients',
  needs: 'root and iproute2',
  rounds: [3],
  engines: ['PostgreSQL'],
  async run(options) {
    const throughLink = await loseThroughLink(options, { share: 1, isTimed: true });
    return { ...throughLink, ...(await failInRelay(options, { share: 1, isTimed: true })) };
  },
};

/** How to run the faults. */
interface FaultOptions {
  /** The fraction of their full length that the long ones take. */
  readonly share: number;
  /** Whether times and memory are checked. */
  readonly isTimed: boolean;
}

/**
 * The time limit of every response, besides the delays of a busy machine: a PUT needs two statements, each of which ends within
 * 1.6 seconds.
 */
const RESPONSE_MS_MAX = 3_500;

/** The time limit from the end of a fault to the first acknowledged write. */
const WRITING_MS_MAX = 5_000;

/** PostgreSQL runs in a network namespace of its own. */
async function loseThroughLink(options: CampaignOptions, how: FaultOptions): Promise<Figures> {
  await using link = await Link.create();
  await using cluster = await startCluster({ network: link });
  const { url } = await createDatabase({ server: cluster.url });
  return await runFaults(options, how, { url, dbUrl: url, faultsOf: () => lossesOf(link, how.share) });
}

/** A relay is between the service and PostgreSQL. */
export async function failInRelay(options: CampaignOptions, how: FaultOptions): Promise<Figures> {
  await using cluster = await startCluster();
  const { url } = await createDatabase({ server: cluster.url });
  await using relay = await Relay.open(cluster.port);
  const random = new Random(options.seed);
  const faultsOf = () => relayFaultsOf(relay, random, how.share);
  return await runFaults(options, how, { url, dbUrl: withPort(url, relay.port), faultsOf });
}

/** A database, its address for the service, and what happens between them. */
interface Place {
  readonly url: string;
  readonly dbUrl: string;
  readonly faultsOf: () => Readonly<Record<string, Outage>>;
}

/** Causes every fault in every round. @returns the worst of each */
async function runFaults(
  { rounds, seed, report }: CampaignOptions,
  { isTimed }: FaultOptions,
  { url, dbUrl, faultsOf }: Place,
): Promise<Figures> {
  await using trial = await Trial.open({ dbUrl, seed });
  await trial.start();
  const figures: Record<string, number> = {};
  for (let round = 1; round <= rounds; round++) {
    for (const [name, fault] of Object.entries(faultsOf())) {
      const before = await readHeld(trial);
      const { result, most, slowestMs, slowestOtherMs } = await underPressure(trial, () =>
        runOutage(trial, fault),
      );
      const waits = { ...result, slowestMs: Math.max(slowestMs, result.slowestMs) };
      const server = await serverConnections(trial, url);
      report(
        `${round}: ${name}: ${describeWaits(waits)}, without the store ${Math.round(slowestOtherMs)} ms; at most ${JSON.stringify({ ...most, ...server })}`,
      );
      if (isTimed) {
        assertBounded(before, most);
        assert.ok(server[UNTIL_CLOSED] <= NOTICE_MS_MAX, 'the server keeps connections that are given up');
        assert.ok(
          waits.slowestMs <= RESPONSE_MS_MAX + slowestOtherMs,
          `a response took ${waits.slowestMs} ms`,
        );
        assert.ok(waits.firstMs <= WRITING_MS_MAX, `no write was acknowledged for ${waits.firstMs} ms`);
      }
      const seen = {
        'slowest response, ms': waits.slowestMs,
        'slowest response without the store, ms': slowestOtherMs,
        'first write after it, ms': waits.firstMs,
        'waiting calls': most['waiting calls'],
        'more memory, kB': (most['resident bytes'] - before['resident bytes']) / 1_000,
        ...server,
      };
      for (const [what, value] of Object.entries(seen)) raise(figures, `${name}: ${what}`, Math.round(value));
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
