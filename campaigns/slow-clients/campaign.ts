import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { readMemoryBytes, readPeakMemoryBytes, resetPeakMemory } from '../../bench/services/usage.ts';
import { makeToken } from '../../conformance/tokens.ts';
import { assertNothingConfidentialInLog } from '../../testkit/log.ts';
import { SECRET } from '../../testkit/service.ts';
import { createBook, createLongBooks, type ServiceProcess } from '../../testkit/service-process.ts';
import type { Campaign, CampaignOptions, Figures, Form } from '../campaign.ts';
import { raise } from '../figures.ts';
import { launchService } from '../service.ts';
import { type AttackResult, attack } from './attacker.ts';
import { type Attack, attacksWith, SEARCH_PATH } from './attacks.ts';
import { Probe } from './probe.ts';

export const campaign: Campaign<AttackForm> = {
  summary: 'clients that send slowly, stall, stay idle or hold memory, while others are served',
  recorded: ['attacks', 'highest p99 during an attack, ms'],
  engines: ['SQLite'],
  full: { rounds: [1], limits: { headers: 10, request: 20, stall: 20 }, share: 1, isMeasured: true },
  short: { rounds: [1], limits: { headers: 5, request: 5, stall: 5 }, share: 0.05, isMeasured: false },
  async run({ rounds, report }, form) {
    let figures: Figures = {};
    for (let round = 0; round < rounds; round++) figures = await runAttacks(report, form);
    return figures;
  },
};

/** How to attack a service. */
interface AttackForm extends Form {
  /** The time limits of the service, in seconds. */
  readonly limits: Readonly<Record<Attack['limit'], number>>;
  /** The fraction of the clients of the long form. */
  readonly share: number;
  /** Whether the attacks run one by one, and their effect on other clients is checked. */
  readonly isMeasured: boolean;
}

/** The limits of the effect of an attack: more memory, and a multiple of the latency of other clients. */
const MORE_MB_MAX = 200;
const P99_TIMES_MAX = 2;

/** Latencies below this count as this: machines differ more. */
const P99_MS_MIN = 15;

/** The longest response time of other clients, on new connections: what HAProxy and Kubernetes give a check. */
const SLOWEST_MS_MAX = 1_000;

/** How long the other clients are measured before the attacks. */
const BASELINE_MS = 2_000;

/** How fast attackers connect: the backlog of the operating system limits it. */
const CONNECTIONS_PER_MS = 0.5;

/**
 * How much later than its limit a connection may be closed. Measured on a machine of their own, it must not be by the idle time
 * of 72 s; on a busy machine, the response whose reader stalls may begin late.
 */
const SLACK_SECONDS = { measured: 30, busy: 300 } as const;

/** The length of the list: long enough for a response to wait in the service if it is not read. */
const LIST_MEBIBYTES = 15;

/** Runs all attacks, and asserts that the service closes their connections. @returns their effect on other clients */
async function runAttacks(report: CampaignOptions['report'], form: AttackForm): Promise<Figures> {
  const { limits, isMeasured } = form;
  await using launched = await launchService('SQLite', {
    HEADERS_TIMEOUT_SECONDS: `${limits.headers}`,
    REQUEST_TIMEOUT_SECONDS: `${limits.request}`,
    STALL_TIMEOUT_SECONDS: `${limits.stall}`,
  });
  const service = await launched.service.listening();
  const token = makeToken(SECRET);
  await createLongBooks(service, token, LIST_MEBIBYTES);
  const id = await createBook(service, token, 'short');

  // The memory of the index, which the first search builds, is that of no attack.
  const headers = { Authorization: token };
  while ((await fetch(`http://127.0.0.1:${service.port}${SEARCH_PATH}`, { headers })).status === 503)
    await sleep(200);

  const attacks = attacksWith(`Authorization: ${token}`);
  const waves = isMeasured
    ? Object.entries(attacks).map(([name, each]) => [name, [each]] as const)
    : [['all attacks', Object.values(attacks)] as const];
  const figures: Record<string, number> = { attacks: Object.keys(attacks).length };
  await using probe = Probe.start({ port: service.port, secret: SECRET }, id);
  await sleep(BASELINE_MS);
  const { p99Ms: baselineMs } = await probe.take();
  figures['p99 without attack, ms'] = baselineMs;
  for (const [name, wave] of waves) {
    const isSudden = wave.some((each) => each.isSudden);
    const before = readMemoryBytes(service.pid);
    resetPeakMemory(service.pid);
    const results = await attackAtOnce(wave, service, form);
    const { p99Ms, slowestMs } = await probe.take();
    const moreMb = (readPeakMemoryBytes(service.pid) - before) / 1e6;
    report(
      `${name}: ${summaryOf(results)}; others p99 ${p99Ms.toFixed(1)} ms, slowest ${slowestMs.toFixed(0)} ms; ${moreMb.toFixed(0)} MB more`,
    );
    raise(figures, 'highest p99 during an attack, ms', p99Ms);
    raise(figures, 'slowest response during an attack, ms', slowestMs);
    raise(figures, 'most additional memory, MB', moreMb);
    if (!isMeasured) continue;
    assert.ok(moreMb <= MORE_MB_MAX, `${name} took ${moreMb} MB`);
    // New clients wait until the connections before theirs are accepted.
    const p99MsMax = isSudden ? SLOWEST_MS_MAX : P99_TIMES_MAX * Math.max(P99_MS_MIN, baselineMs);
    assert.ok(p99Ms <= p99MsMax, `${name}: p99 ${p99Ms} ms`);
    assert.ok(slowestMs <= SLOWEST_MS_MAX, `${name}: slowest ${slowestMs} ms`);
  }
  await probe[Symbol.asyncDispose]();
  const { code, output } = await service.stop();
  assert.equal(code, 0);
  assertNothingConfidentialInLog(output.trim().split('\n'), ['x'.repeat(100)]);
  return figures;
}

/** @returns the result of each attacker */
async function attackAtOnce(
  wave: readonly Attack[],
  service: ServiceProcess,
  { limits, share, isMeasured }: AttackForm,
): Promise<AttackResult[]> {
  const slack = SLACK_SECONDS[isMeasured ? 'measured' : 'busy'];
  const attackers = wave.flatMap((each) =>
    Array.from({ length: Math.ceil(each.clients * share) }, () => each),
  );
  return Promise.all(
    attackers.map(async (each, index) => {
      if (!each.isSudden) await sleep(index / CONNECTIONS_PER_MS);
      return attack(service, each, limits[each.limit] + slack);
    }),
  );
}

function summaryOf(results: readonly AttackResult[]): string {
  const statuses = Object.entries(Object.groupBy(results, ({ status }) => status));
  const responses = statuses.map(([status, all = []]) => `${all.length} × ${status}`);
  const seconds = results.map((result) => result.seconds);
  const [first, last] = [Math.min(...seconds), Math.max(...seconds)];
  return `disconnected after ${first.toFixed(1)} to ${last.toFixed(1)} s, responses ${responses.join(', ')}`;
}
