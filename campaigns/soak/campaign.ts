import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { inspect } from 'node:util';
import { PASSWORD, SECRET, USERNAME } from '../../bench/services/credentials.ts';
import type { ServerProcess } from '../../bench/services/server-process.ts';
import { startService } from '../../bench/services/service.ts';
import { readMemoryBytes } from '../../bench/services/usage.ts';
import { assertLogTellsNothing } from '../../test/http/log.ts';
import { createFolder } from '../../test/support/folder.ts';
import { createDatabase } from '../../test/support/postgres.ts';
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

/** How long clients call as fast as they can: until memory is what that takes, and then to see what the peak is. */
const WARM_UP_MS = 60_000;
const PEAK_MS = 10_000;

const ROUND_SECONDS = 60;

/** In this part of the rounds caches may still fill, and memory is not looked at. */
const WARMING_SHARE = 1 / 3;

/** How much longer than in the first tenth of the rounds waits may be in the last. … */
const P99_TIMES_MAX = 1.2;

/**
 * … Where they are longer, the machine may have become slower meanwhile: then what counts is how much longer they are
 * than those of a service that has just been started, which takes turns with the old one: so many, of so long.
 */
const TURNS = 6;
const TURN_MS = 15_000;

/** What was seen in a round. */
interface Round {
  readonly waits: RecordableHistogram;
  /** The mean. */
  readonly memoryBytes: number;
  /** The most that were open. */
  readonly descriptors: number;
}

async function soak({ engine, rounds: count, seed, report }: CampaignOptions): Promise<Figures> {
  await using old = await startSubject(engine);
  const { peak, rounds } = await observeRounds(old, count, seed, report);
  await using fresh = await startSubject(engine);
  await using warmUp = new Clients(fresh.access, seed);
  await warmUp.call(WARM_UP_MS);
  await warmUp[Symbol.asyncDispose]();

  const waits = { old: createHistogram(), fresh: createHistogram() };
  for (let turn = 1; turn <= TURNS; turn++) {
    for (const [name, { access }] of [
      ['old', old],
      ['fresh', fresh],
    ] as const) {
      await using clients = new Clients(access, seed + turn);
      waits[name].add(await clients.call(TURN_MS, peak / 2));
    }
  }
  return judge(rounds, peak, { old: p99MsOf(waits.old), fresh: p99MsOf(waits.fresh) });
}

/** A service as `npm start` runs it, on a store of its own. */
interface OutageTrial extends AsyncDisposable {
  readonly server: ServerProcess;
  readonly access: Access;
}

async function startSubject(engine: string): Promise<OutageTrial> {
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

/** @returns what was seen in each round, and how many requests a second the service answers at most */
async function observeRounds(
  { server, access }: OutageTrial,
  count: number,
  seed: number,
  report: CampaignOptions['report'],
): Promise<{ rounds: Round[]; peak: number }> {
  await using clients = new Clients(access, seed);
  await clients.call(WARM_UP_MS);
  const peak = (await clients.call(PEAK_MS)).count / (PEAK_MS / 1_000);
  report(`${Math.round(peak)} requests/s peak`);
  const rounds: Round[] = [];
  for (let round = 1; round <= count; round++) {
    const seen = await observe(clients, server, peak / 2);
    report(`${round}: ${inWords(seen)}`);
    rounds.push(seen);
  }
  return { rounds, peak };
}

async function observe(clients: Clients, server: ServerProcess, perSecond: number): Promise<Round> {
  for await (const lines of server.drainLog()) {
    assertLogTellsNothing(
      lines.filter((line) => line.startsWith('{')),
      [SECRET, PASSWORD],
    );
  }
  const waits = createHistogram();
  let [memoryBytes, descriptors] = [0, 0];
  for (let second = 0; second < ROUND_SECONDS; second++) {
    waits.add(await clients.call(1_000, perSecond));
    memoryBytes += readMemoryBytes(server.pid) / ROUND_SECONDS;
    descriptors = Math.max(descriptors, readdirSync(`/proc/${server.pid}/fd`).length);
  }
  return { waits, memoryBytes, descriptors };
}

function inWords({ waits, memoryBytes, descriptors }: Round): string {
  const p99 = `p99 ${p99MsOf(waits).toFixed(1)} ms`;
  return `${waits.count} requests, ${p99}, ${(memoryBytes / 1e6).toFixed(1)} MB, ${descriptors} descriptors`;
}

/** Asserts that the service was at the end as it was at the beginning. */
function judge(rounds: readonly Round[], peak: number, turns: { old: number; fresh: number }): Figures {
  const tenth = Math.ceil(rounds.length / 10);
  const [early, late] = [rounds.slice(0, tenth), rounds.slice(-tenth)];
  const warm = rounds.slice(Math.floor(rounds.length * WARMING_SHARE));
  const memory = trendOf(warm.map(({ memoryBytes }) => memoryBytes));
  const figures = {
    requests: rounds.reduce((sum, { waits }) => sum + waits.count, 0),
    'peak requests/s': Math.round(peak),
    'memory slope, kB a round': Math.round(memory.slope / 1e3),
    'memory slope is significant': String(memory.isCertain),
    'most descriptors, first tenth': mostDescriptors(early),
    'most descriptors, last tenth': mostDescriptors(late),
    'p99 of the first tenth, ms': p99MsOf(together(early)),
    'p99 of the last tenth, ms': p99MsOf(together(late)),
    'p99 afterwards, ms': turns.old,
    'p99 afterwards of a new service, ms': turns.fresh,
  };
  assert.ok(!memory.isCertain || memory.slope < 0, `memory grows: ${inspect(figures)}`);
  assert.ok(mostDescriptors(late) <= mostDescriptors(early), `descriptors increase: ${inspect(figures)}`);
  const isSlower = p99MsOf(together(late)) > P99_TIMES_MAX * p99MsOf(together(early));
  assert.ok(!isSlower || turns.old <= P99_TIMES_MAX * turns.fresh, `latency increases: ${inspect(figures)}`);
  return figures;
}

/** The waits of all these rounds. */
function together(rounds: readonly Round[]): RecordableHistogram {
  const all = createHistogram();
  for (const { waits } of rounds) all.add(waits);
  return all;
}

function p99MsOf(waits: RecordableHistogram): number {
  return waits.percentile(99) / 1e6;
}

function mostDescriptors(rounds: readonly Round[]): number {
  return Math.max(...rounds.map(({ descriptors }) => descriptors));
}
