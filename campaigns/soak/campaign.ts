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
import type { Campaign, CampaignOptions, Figures, Form } from '../campaign.ts';
import { LINUX } from '../needs.ts';
import { type Access, Clients } from './clients.ts';
import { trendOf } from './trend.ts';

export const campaign: Campaign<SoakForm> = {
  summary: 'a mix of all requests from 32 clients at half the peak rate, for six seconds in every round',
  recorded: ['requests', 'memory growth after the warming rounds, MB'],
  needs: [LINUX],
  engines: ['SQLite', 'PostgreSQL'],
  full: { rounds: [30, 30], warmUpMs: 30_000, roundSeconds: 6, turns: 4, turnMs: 5_000, isMeasured: true },
  short: { rounds: [3, 3], warmUpMs: 2_000, roundSeconds: 2, turns: 1, turnMs: 1_000, isMeasured: false },
  run: soak,
};

interface SoakForm extends Form {
  /** How long clients send at the maximum rate until memory is stable, and a third of it to measure the peak rate. */
  readonly warmUpMs: number;
  readonly roundSeconds: number;
  /** If the last rounds are slow, the machine may have become slower: then the latency is compared with that of a new service. */
  readonly turns: number;
  readonly turnMs: number;
  /** Whether memory, descriptors and latency are checked. */
  readonly isMeasured: boolean;
}

/** The first rounds, in which caches may still fill and threads start, and neither memory nor descriptors are checked. */
const WARMING_SHARE = 1 / 3;

/**
 * The limit of the growth of memory after them, if it is significant: caches fill for longer than a full run, by 2 MB on a busy machine.
 * A full run has 400,000 requests after them, so that 20 bytes that are kept for each are found.
 */
const GROWTH_MB_MAX = 8;

/** The limit of the latency of the last tenth of the rounds, as a multiple of the first tenth's. */
const P99_TIMES_MAX = 1.2;

/** The measurements of a round. */
interface Round {
  readonly latencies: RecordableHistogram;
  /** The mean. */
  readonly memoryBytes: number;
  /** The maximum of open ones. */
  readonly descriptors: number;
}

async function soak(options: CampaignOptions, form: SoakForm): Promise<Figures> {
  const { engine, seed } = options;
  await using old = await startSubject(engine);
  const { peak, rounds } = await measureRounds(old, options, form);
  await using fresh = await startSubject(engine);
  await using warmUp = new Clients(fresh.access, seed);
  await warmUp.run(form.warmUpMs);
  await warmUp[Symbol.asyncDispose]();

  const latencies = { old: createHistogram(), fresh: createHistogram() };
  for (let turn = 1; turn <= form.turns; turn++) {
    for (const [name, { access }] of [
      ['old', old],
      ['fresh', fresh],
    ] as const) {
      await using clients = new Clients(access, seed + turn);
      latencies[name].add(await clients.run(form.turnMs, peak / 2));
    }
  }
  const turns = { old: p99MsOf(latencies.old), fresh: p99MsOf(latencies.fresh) };
  const figures = figuresOf(rounds, peak, turns);
  if (form.isMeasured) judge(rounds, turns, figures);
  return figures;
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
  { rounds: count, seed, report }: CampaignOptions,
  { warmUpMs, roundSeconds }: SoakForm,
): Promise<{ rounds: Round[]; peak: number }> {
  await using clients = new Clients(access, seed);
  await clients.run(warmUpMs);
  const peakMs = warmUpMs / 3;
  const peak = (await clients.run(peakMs)).count / (peakMs / 1_000);
  report(`${Math.round(peak)} requests/s peak`);
  const rounds: Round[] = [];
  for (let round = 1; round <= count; round++) {
    const measured = await measureRound(clients, server, roundSeconds, peak / 2);
    report(`${round}: ${describe(measured)}`);
    rounds.push(measured);
  }
  return { rounds, peak };
}

async function measureRound(
  clients: Clients,
  server: ServerProcess,
  seconds: number,
  perSecond: number,
): Promise<Round> {
  for await (const lines of server.drainLog()) {
    assertNothingConfidentialInLog(
      lines.filter((line) => line.startsWith('{')),
      [SECRET, PASSWORD],
    );
  }
  const latencies = createHistogram();
  let [memoryBytes, descriptors] = [0, 0];
  for (let second = 0; second < seconds; second++) {
    latencies.add(await clients.run(1_000, perSecond));
    memoryBytes += readMemoryBytes(server.pid) / seconds;
    descriptors = Math.max(descriptors, readdirSync(`/proc/${server.pid}/fd`).length);
  }
  return { latencies, memoryBytes, descriptors };
}

function describe({ latencies, memoryBytes, descriptors }: Round): string {
  const p99 = `p99 ${p99MsOf(latencies).toFixed(1)} ms`;
  return `${latencies.count} requests, ${p99}, ${(memoryBytes / 1e6).toFixed(1)} MB, ${descriptors} descriptors`;
}

/** The 99th percentiles of the old service and a new one, in turn. */
interface Turns {
  readonly old: number;
  readonly fresh: number;
}

function figuresOf(rounds: readonly Round[], peak: number, turns: Turns): Figures {
  const { early, late, warmed, memory, growthMb } = trendsOf(rounds);
  return {
    requests: rounds.reduce((sum, { latencies }) => sum + latencies.count, 0),
    'peak requests/s': Math.round(peak),
    'memory growth after the warming rounds, MB': growthMb,
    'the growth is significant': String(memory.isCertain),
    'memory at the end, MB': Math.round((rounds.at(-1)?.memoryBytes ?? 0) / 1e6),
    'most descriptors after the warming rounds': mostDescriptors(warmed),
    'most descriptors, last tenth': mostDescriptors(late),
    'p99 of the first tenth, ms': p99MsOf(merge(early)),
    'p99 of the last tenth, ms': p99MsOf(merge(late)),
    'p99 afterwards, ms': turns.old,
    'p99 afterwards of a new service, ms': turns.fresh,
  };
}

/** Asserts that memory, descriptors and latency did not grow. */
function judge(rounds: readonly Round[], turns: Turns, figures: Figures): void {
  const { early, late, warmed, memory, growthMb } = trendsOf(rounds);
  const isBounded = !memory.isCertain || growthMb <= GROWTH_MB_MAX;
  assert.ok(isBounded, `memory grows: ${inspect(figures)}`);
  assert.ok(mostDescriptors(late) <= mostDescriptors(warmed), `descriptors increase: ${inspect(figures)}`);
  const isSlower = p99MsOf(merge(late)) > P99_TIMES_MAX * p99MsOf(merge(early));
  assert.ok(!isSlower || turns.old <= P99_TIMES_MAX * turns.fresh, `latency increases: ${inspect(figures)}`);
}

/** The first and the last tenth, the first after the warming rounds, and the trend of the memory after these. */
function trendsOf(rounds: readonly Round[]) {
  const tenth = Math.ceil(rounds.length / 10);
  const warm = rounds.slice(Math.floor(rounds.length * WARMING_SHARE));
  const memory = trendOf(warm.map(({ memoryBytes }) => memoryBytes));
  return {
    early: rounds.slice(0, tenth),
    late: rounds.slice(-tenth),
    warmed: warm.slice(0, tenth),
    memory,
    growthMb: (memory.slope * warm.length) / 1e6,
  };
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
