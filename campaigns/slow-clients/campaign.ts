import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { readMemoryBytes, readPeakMemoryBytes, resetPeakMemory } from '../../bench/services/usage.ts';
import { makeToken } from '../../conformance/tokens.ts';
import { assertLogTellsNothing } from '../../test/http/log.ts';
import { PASSWORD, SECRET } from '../../test/http/service.ts';
import { createBook, type ServiceProcess, startService } from '../../test/process/service-process.ts';
import { createFolder } from '../../test/support/folder.ts';
import type { Campaign, Figures } from '../campaign.ts';
import { attack, type Fate } from './attackers.ts';
import { type Attack, attacksWith } from './attacks.ts';
import { Probe } from './probe.ts';

export const campaign: Campaign = {
  summary: 'clients that send slowly, stall, stay idle or hold memory, while others are served',
  rounds: [1],
  engines: ['SQLite'],
  async run({ rounds, report }) {
    let figures: Figures = {};
    for (let round = 0; round < rounds; round++) {
      figures = await beset({
        limits: { headers: 10, request: 30, stall: 30 },
        share: 1,
        isMeasured: true,
        report,
      });
    }
    return figures;
  },
};

/** How a service is beset. */
export interface Siege {
  /** When the service cuts clients off, in seconds. */
  readonly limits: Readonly<Record<Attack['limit'], number>>;
  /** How many of the clients of the long form come. */
  readonly share: number;
  /** Whether each attack comes alone, and what others notice of it is held to the goals. */
  readonly isMeasured: boolean;
  readonly report: (line: string) => void;
}

/** What others may notice of an attack. */
const MORE_MB_MAX = 200;
const P99_TIMES_MAX = 2;

/** Below this nobody notices a difference, and machines differ more. */
const P99_MS_MIN = 15;

/** How long the clients who mean well are alone. */
const PEACE_MS = 2_000;

/** How fast attackers come: more than this is a matter of the system's queue of new connections. */
const ARRIVALS_PER_MS = 0.5;

/** How much longer than its limit an attacker may be borne: the limits are looked at every second, by busy machines. */
const SLACK_SECONDS = 30;

/** What answers long enough to wait in the service for who reads nothing. */
const LONG_TITLE = 'x'.repeat(1_000_000);
const LONG_BOOKS = 16;

/** Lets all attackers come, and asserts that the service sends them away. @returns what others noticed */
export async function beset(siege: Siege): Promise<Figures> {
  const { limits, isMeasured, report } = siege;
  await using folder = await createFolder();
  await using service = await startService(folder.path, {
    SECRET_TOKEN: SECRET,
    AUTH_PASSWORD: PASSWORD,
    HEADERS_TIMEOUT_SECONDS: `${limits.headers}`,
    REQUEST_TIMEOUT_SECONDS: `${limits.request}`,
    STALL_TIMEOUT_SECONDS: `${limits.stall}`,
  });
  const token = makeToken(SECRET, {});
  for (let books = 0; books < LONG_BOOKS; books++) await createBook(service, token, LONG_TITLE);
  const id = await createBook(service, token, 'short');

  const attacks = attacksWith(`Authorization: ${token}`);
  const waves = isMeasured
    ? Object.entries(attacks).map(([name, each]) => [name, [each]] as const)
    : [['all of them', Object.values(attacks)] as const];
  const figures: Record<string, number> = {};
  await using probe = Probe.start({ port: service.port, secret: SECRET }, id);
  await sleep(PEACE_MS);
  const peacefulMs = await probe.takeP99Ms();
  figures['p99 without attack, ms'] = peacefulMs;
  for (const [name, wave] of waves) {
    const before = readMemoryBytes(service.pid);
    resetPeakMemory(service.pid);
    const fates = await attackAtOnce(wave, service, siege);
    const p99Ms = await probe.takeP99Ms();
    const moreMb = (readPeakMemoryBytes(service.pid) - before) / 1e6;
    report(
      `${name}: ${summaryOf(fates)}; p99 of others ${p99Ms.toFixed(1)} ms, ${moreMb.toFixed(0)} MB more`,
    );
    figures[`p99 during ${name}, ms`] = p99Ms;
    figures[`MB more during ${name}`] = moreMb;
    if (!isMeasured) continue;
    assert.ok(moreMb <= MORE_MB_MAX, `${name} took ${moreMb} MB`);
    assert.ok(p99Ms <= P99_TIMES_MAX * Math.max(P99_MS_MIN, peacefulMs), `${name}: p99 ${p99Ms} ms`);
  }
  await probe[Symbol.asyncDispose]();
  const { code, output } = await service.stop();
  assert.equal(code, 0);
  assertLogTellsNothing(output.trim().split('\n'), [LONG_TITLE.slice(0, 100)]);
  return figures;
}

/** @returns what became of each attacker */
async function attackAtOnce(
  wave: readonly Attack[],
  service: ServiceProcess,
  { limits, share }: Siege,
): Promise<Fate[]> {
  const attackers = wave.flatMap((each) =>
    Array.from({ length: Math.ceil(each.clients * share) }, () => each),
  );
  return Promise.all(
    attackers.map(async (each, index) => {
      await sleep(index / ARRIVALS_PER_MS);
      return attack(service, each, limits[each.limit] + SLACK_SECONDS);
    }),
  );
}

function summaryOf(fates: readonly Fate[]): string {
  const statuses = Object.entries(Object.groupBy(fates, ({ status }) => status));
  const answers = statuses.map(([status, all = []]) => `${all.length} × ${status}`);
  const seconds = fates.map((fate) => fate.seconds);
  const [first, last] = [Math.min(...seconds), Math.max(...seconds)];
  return `disconnected after ${first.toFixed(1)} to ${last.toFixed(1)} s, answered ${answers.join(', ')}`;
}
