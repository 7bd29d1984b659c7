import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { inspect } from 'node:util';
import { PASSWORD, SECRET, USERNAME } from '../../bench/services/credentials.ts';
import type { ServerProcess } from '../../bench/services/server-process.ts';
import { startService } from '../../bench/services/service.ts';
import { readMemoryBytes } from '../../bench/services/usage.ts';
import { createFolder } from '../../testkit/folder.ts';
import { assertNothingConfidentialInLog } from '../../testkit/log.ts';
import { createDatabase } from '../../testkit/postgres.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { type Access, Clients } from './clients.ts';
import { trendOf } from './trend.ts';

export const campaign: Campaign = {
  summary: 'a mix of all requests from 32 clients at half the peak rate, for a minute in every round',
  needs: 'Linux',
  rounds: [30, 30],
  engines: ['SQLite', 'PostgreSQL'],
  run: soak,
};

/** How long clients send at the maximum rate: first until memory is stable, then to measure the peak rate. */
const WARM_UP_MS = 60_000;
const PEAK_MS = 10_000;

const ROUND_SECONDS = 60;

/** The first rounds, in which caches may still fill, and memory is not checked. */
const WARMING_SHARE = 1 / 3;

/** The limit of the latency of the last tenth of the rounds, as a multiple of the first tenth's. */
const P99_TIMES_MAX = 1.2;

/**
 * Beyond that limit, the machine may have become slower: then the latency is compared with that of a new service, with
 * which the old one takes this many turns.
 */
const TURNS = 6;
const TURN_MS = 15_000;

/** The measurements of a round. */
interface Round {
  readonly latencies: RecordableHistogram;
  /** The mean. */
  readonly memoryBytes: number;
  /** The maximum of open ones. */
  readonly descriptors: number;
}

async function soak({ engine, rounds: count, seed, report }: CampaignOptions): Promise<Figures> {
  await using old = await startSubject(engine);
  const { peak, rounds } = await measureRounds(old, count, seed, report);
  await using fresh = await startSubject(engine);
  await using warmUp = new Clients(fresh.access, seed);
  await warmUp.run(WARM_UP_MS);
  await warmUp[Symbol.asyncDispose]();

  const latencies = { old: createHistogram(), fresh: createHistogram() };
  for (let turn = 1; turn <= TURNS; turn++) {
    for (const [name, { access }] of [
      ['old', old],
      ['fresh', fresh],
    ] as const) {
      await using clients = new Clients(access, seed + turn);
      latencies[name].add(await clients.run(TURN_MS, peak / 2));
    }
  }
  return judge(rounds, peak, { old: p99MsOf(latencies.old), fresh: p99MsOf(latencies.fresh) });
}

/** A service as `npm start` runs it, on a new store. */
interface Subject extends AsyncDisposable {
  readonly server: ServerProcess;
  readonly access: Access;
}

async function startSubject(engine: string): Promise<Subject> {
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(await createFolder());
  const { server } = resources.use(
    await startService(engine === 'SQLite' ? 'sqlite' : 'postgres', {
      folder: folder.path,
      createDatabase: async () => resources.use(await createDatabase()).url,
    }),
  );
  const port = Number(new URL(server.url).port);
  const credentials = JSON.stringify({ username: USERNAME, password: PASSWORD });
  const all = resources.move();
  return {
    server,
    access: { port, secret: SECRET, credentials },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** @returns the measurements of each round, and the peak rate in requests per second */
async function measureRounds(
  { server, access }: Subject,
  count: number,
  seed: number,
  report: CampaignOptions['report'],
): Promise<{ rounds: Round[]; peak: number }> {
  await using clients = new Clients(access, seed);
  await clients.run(WARM_UP_MS);
  const peak = (await clients.run(PEAK_MS)).count / (PEAK_MS / 1_000);
  report(`${Math.round(peak)} requests/s peak`);
  const rounds: Round[] = [];
  for (let round = 1; round <= count; round++) {
    const measured = await measureRound(clients, server, peak / 2);
    report(`${round}: ${describe(measured)}`);
    rounds.push(measured);
  }
  return { rounds, peak };
}

async function measureRound(clients: Clients, server: ServerProcess, perSecond: number): Promise<Round> {
  for await (const lines of server.drainLog()) {
    assertNothingConfidentialInLog(
      lines.filter((line) => line.startsWith('{')),
      [SECRET, PASSWORD],
    );
  }
  const latencies = createHistogram();
  let [memoryBytes, descriptors] = [0, 0];
  for (let second = 0; second < ROUND_SECONDS; second++) {
    latencies.add(await clients.run(1_000, perSecond));
    memoryBytes += readMemoryBytes(server.pid) / ROUND_SECONDS;
    descriptors = Math.max(descriptors, readdirSync(`/proc/${server.pid}/fd`).length);
  }
  return { latencies, memoryBytes, descriptors };
}

function describe({ latencies, memoryBytes, descriptors }: Round): string {
  const p99 = `p99 ${p99MsOf(latencies).toFixed(1)} ms`;
  return `${latencies.count} requests, ${p99}, ${(memoryBytes / 1e6).toFixed(1)} MB, ${descriptors} descriptors`;
}

/** Asserts that memory, descriptors and latency did not grow. */
function judge(rounds: readonly Round[], peak: number, turns: { old: number; fresh: number }): Figures {
  const tenth = Math.ceil(rounds.length / 10);
  const [early, late] = [rounds.slice(0, tenth), rounds.slice(-tenth)];
  const warm = rounds.slice(Math.floor(rounds.length * WARMING_SHARE));
  const memory = trendOf(warm.map(({ memoryBytes }) => memoryBytes));
  const figures = {
    requests: rounds.reduce((sum, { latencies }) => sum + latencies.count, 0),
    'peak requests/s': Math.round(peak),
    'memory slope, kB a round': Math.round(memory.slope / 1e3),
    'memory slope is significant': String(memory.isCertain),
    'most descriptors, first tenth': mostDescriptors(early),
    'most descriptors, last tenth': mostDescriptors(late),
    'p99 of the first tenth, ms': p99MsOf(merge(early)),
    'p99 of the last tenth, ms': p99MsOf(merge(late)),
    'p99 afterwards, ms': turns.old,
    'p99 afterwards of a new service, ms': turns.fresh,
  };
  assert.ok(!memory.isCertain || memory.slope < 0, `memory grows: ${inspect(figures)}`);
  assert.ok(mostDescriptors(late) <= mostDescriptors(early), `descriptors increase: ${inspect(figures)}`);
  const isSlower = p99MsOf(merge(late)) > P99_TIMES_MAX * p99MsOf(merge(early));
  assert.ok(!isSlower || turns.old <= P99_TIMES_MAX * turns.fresh, `latency increases: ${inspect(figures)}`);
  return figures;
}

/** The latencies of these rounds. */
function merge(rounds: readonly Round[]): RecordableHistogram {
  const all = createHistogram();
  for (const { latencies } of rounds) all.add(latencies);
  return all;
}

function p99MsOf(latencies: RecordableHistogram): number {
  return latencies.percentile(99) / 1e6;
}

function mostDescriptors(rounds: readonly Round[]): number {
  return Math.max(...rounds.map(({ descriptors }) => descriptors));
}
