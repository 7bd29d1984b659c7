import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { inspect } from 'node:util';
import { PASSWORD, SECRET, USERNAME } from '../../../bench/services/credentials.ts';
import { ServerProcess } from '../../../bench/services/server-process.ts';
import { readMemoryBytes } from '../../../bench/services/usage.ts';
import { assertLogTellsNothing } from '../../http/log.ts';
import { engines } from '../../support/engines.ts';
import { createFolder } from '../../support/folder.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { Clients } from './clients.ts';
import { trendOf } from './trend.ts';

export const campaign: Campaign = {
  summary:
    'a little of everything, half as much as 32 clients get through at most, for a minute in every round',
  needs: 'Linux',
  rounds: [30, 30],
  engines: ['SQLite', 'PostgreSQL'],
  run: soak,
};

const MAIN = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts');

/** How long clients call as fast as they can: until memory is what that takes, and then to see what the peak is. */
const WARM_UP_MS = 60_000;
const PEAK_MS = 10_000;

const ROUND_SECONDS = 60;

/** In this part of the rounds caches may still fill, and memory is not looked at. */
const WARMING_SHARE = 1 / 3;

/** How much longer than in the first tenth of the rounds waits may be in the last. */
const P99_TIMES_MAX = 1.2;

/** What was seen in a round. */
interface Round {
  readonly waits: RecordableHistogram;
  /** The mean. */
  readonly memoryBytes: number;
  /** The most that were open. */
  readonly descriptors: number;
}

async function soak({ engine, rounds: count, seed, report }: CampaignOptions): Promise<Figures> {
  await using folder = await createFolder();
  await using address = await engines.find(({ name }) => name === engine)?.createAddress();
  const variables = { DB_URL: address?.dbUrl ?? '' };
  await using server = await ServerProcess.start({ file: MAIN, folder: folder.path, variables });
  const access = {
    port: Number(new URL(server.url).port),
    secret: SECRET,
    credentials: JSON.stringify({ username: USERNAME, password: PASSWORD }),
  };
  await using clients = new Clients(access, seed);
  await clients.call(WARM_UP_MS);
  const peak = (await clients.call(PEAK_MS)).count / (PEAK_MS / 1_000);
  report(`${Math.round(peak)} requests a second at most`);

  const rounds: Round[] = [];
  for (let round = 1; round <= count; round++) {
    const seen = await observe(clients, server, peak / 2);
    report(`${round}: ${inWords(seen)}`);
    rounds.push(seen);
  }
  return judge(rounds, peak);
}

async function observe(clients: Clients, server: ServerProcess, perSecond: number): Promise<Round> {
  for await (const lines of server.takeLog()) {
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
  const p99 = `p99 ${(waits.percentile(99) / 1e6).toFixed(1)} ms`;
  return `${waits.count} requests, ${p99}, ${(memoryBytes / 1e6).toFixed(1)} MB, ${descriptors} descriptors`;
}

/** Asserts that the service was at the end as it was at the beginning. */
function judge(rounds: readonly Round[], peak: number): Figures {
  const tenth = Math.ceil(rounds.length / 10);
  const [early, late] = [rounds.slice(0, tenth), rounds.slice(-tenth)];
  const warm = rounds.slice(Math.floor(rounds.length * WARMING_SHARE));
  const memory = trendOf(warm.map(({ memoryBytes }) => memoryBytes));
  const figures = {
    requests: rounds.reduce((sum, { waits }) => sum + waits.count, 0),
    'requests a second at most': Math.round(peak),
    'memory slope, kB a round': Math.round(memory.slope / 1e3),
    'memory slope is certain': String(memory.isCertain),
    'most descriptors, first tenth': mostDescriptors(early),
    'most descriptors, last tenth': mostDescriptors(late),
    'p99 of the first tenth, ms': p99MsOf(early),
    'p99 of the last tenth, ms': p99MsOf(late),
  };
  assert.ok(!memory.isCertain || memory.slope < 0, `memory grows: ${inspect(figures)}`);
  assert.ok(mostDescriptors(late) <= mostDescriptors(early), `descriptors grow: ${inspect(figures)}`);
  assert.ok(p99MsOf(late) <= P99_TIMES_MAX * p99MsOf(early), `waits grow: ${inspect(figures)}`);
  return figures;
}

function p99MsOf(rounds: readonly Round[]): number {
  const waits = createHistogram();
  for (const round of rounds) waits.add(round.waits);
  return waits.percentile(99) / 1e6;
}

function mostDescriptors(rounds: readonly Round[]): number {
  return Math.max(...rounds.map(({ descriptors }) => descriptors));
}
