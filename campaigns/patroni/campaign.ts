import assert from 'node:assert/strict';
import { median } from '../../bench/statistics.ts';
import { createFolder } from '../../testkit/folder.ts';
import { findFreePort } from '../../testkit/free-port.ts';
import { parseLog } from '../../testkit/log.ts';
import type { Campaign, CampaignOptions, Figures, Form } from '../campaign.ts';
import { add } from '../figures.ts';
import { balanceCopies, Haproxy } from '../haproxy.ts';
import type { Journal } from '../journal.ts';
import { LINUX, POSTGRES_FOLDER, programs, ROOT } from '../needs.ts';
import { Trial } from '../trial.ts';
import { FAULTS, type Fault, FENCE } from './faults.ts';
import { CLUSTER_SETTINGS, type Member } from './member.ts';
import { PatroniCluster } from './patroni-cluster.ts';

export const campaign: Campaign<PatroniForm> = {
  summary:
    'three PostgreSQL members under Patroni and etcd behind HAProxy: the leader or its Patroni is killed, the leader switched over or frozen, etcd stopped, under 24 clients of three copies',
  needs: [
    LINUX,
    ROOT,
    ...programs(['patroni', 'patronictl', 'etcd', 'haproxy', 'setpriv']),
    ...programs(
      ['postgres', 'initdb', 'pg_ctl', 'pg_basebackup', 'pg_rewind', 'pg_controldata'],
      [POSTGRES_FOLDER],
    ),
  ],
  engines: ['PostgreSQL'],
  full: { rounds: [1], faults: Object.keys(FAULTS) },
  short: { rounds: [1], faults: ['PostgreSQL killed', 'switchover'] },
  run: failOver,
};

interface PatroniForm extends Form {
  /** The names of the faults of a round. */
  readonly faults: readonly string[];
}

/** As many deletes as creates, so that the list does not grow; pauses, so that the processors are not always busy. */
const CLIENTS = {
  count: 24,
  pauseMs: 20,
  kinds: ['create', 'update', 'update', 'update', 'find', 'find', 'find', 'delete'],
} as const;

/** The minimum of acknowledged writes before a fault, after the failover, and after the end of the fault. */
const WRITES = 200;

async function failOver(
  { rounds, seed, report }: CampaignOptions,
  { faults }: PatroniForm,
): Promise<Figures> {
  await using resources = new AsyncDisposableStack();
  const cluster = resources.use(await PatroniCluster.start());
  await cluster.query(await cluster.leader(), `create table ${FENCE} (at timestamptz default now())`);
  const { dbUrl } = cluster;
  const variables = { TRUST_PROXY: '127.0.0.1' };
  const trial = resources.use(await Trial.open({ dbUrl, seed, variables }));
  const folder = resources.use(await createFolder());
  const ports = [await findFreePort(), await findFreePort(), await findFreePort()];
  for (const port of ports) await trial.start(port);
  const proxy = resources.use(await Haproxy.start(balanceCopies(trial.target.port, ports), folder.path));

  const { ttl, loop_wait, retry_timeout } = CLUSTER_SETTINGS;
  const results = Object.entries(FAULTS)
    .filter(([name]) => faults.includes(name))
    .map(([name, fault]) => new FaultResults(name, fault));
  for (let round = 1; round <= rounds; round++) {
    for (const result of results) {
      const former = await cluster.leader();
      const { journal, faultMs } = await injectUnderLoad(trial, cluster, result.fault, former);
      const seconds = result.addGap(longestGapMs(journal, faultMs));
      const leader = await cluster.leader();
      report(
        `${round}: ${result.name}: ${seconds.toFixed(1)} s without writes, ${former.name} → ${leader.name}; ` +
          `${journal.calls.length} requests, ${journal.unknown} writes of unknown outcome`,
      );
      result.addLines(trial.outputs.flatMap(unusualLines));
      if (result.fault.isReplaced) assert.notEqual(leader, former);
      // The next round begins with empty logs.
      for (const port of ports) {
        await trial.stop(port);
        await trial.start(port);
      }
      await proxy.ready(ports.length);
    }
  }
  await Promise.all(ports.map((port) => trial.stop(port)));
  return {
    'ttl, loop_wait, retry_timeout': `${ttl}, ${loop_wait}, ${retry_timeout}`,
    ...trial.writes,
    ...Object.assign({}, ...results.map((result) => result.figures())),
  };
}

/** Runs clients through the proxy during a fault, and asserts that no write is lost and no read is stale. */
async function injectUnderLoad(
  trial: Trial,
  cluster: PatroniCluster,
  fault: Fault,
  leader: Member,
): Promise<{ journal: Journal; faultMs: number }> {
  let faultMs = 0;
  const journal = await trial.underLoad(
    async (clients) => {
      await clients.progress(WRITES);
      faultMs = performance.now();
      await fault.begin(cluster, leader);
      if (fault.isReplaced) await clients.progress(WRITES);
      await fault.end(cluster, leader);
      await cluster.complete();
      await clients.progress(WRITES);
    },
    [CLIENTS],
  );
  assert.deepEqual(await trial.judge(journal), []);
  return { journal, faultMs };
}

/** The longest time without an acknowledged write after a fault. */
function longestGapMs({ calls }: Journal, faultMs: number): number {
  const ends = calls
    .filter(({ kind, outcome, endMs }) => kind !== 'find' && outcome.is === 'done' && endMs > faultMs)
    .map(({ endMs }) => endMs);
  return ends.reduce((longest, end, index) => Math.max(longest, end - (ends[index - 1] ?? faultMs)), 0);
}

/** The lines of a log about failures: the reason of each 503, and the messages that are not about requests. */
function unusualLines(log: string): string[] {
  return parseLog(log.trim().split('\n')).flatMap(({ level, status, reason, msg = '' }) => {
    if (status === undefined) return level > 30 ? [msg] : [];
    return status >= 500 ? [`${status} ${reason ?? ''}`.trim()] : [];
  });
}

/** What was measured in all rounds of a fault. */
class FaultResults {
  readonly name: string;
  readonly fault: Fault;
  readonly #seconds: number[] = [];
  readonly #lines: Record<string, number> = {};

  constructor(name: string, fault: Fault) {
    this.name = name;
    this.fault = fault;
  }

  /** @returns the time in seconds */
  addGap(ms: number): number {
    this.#seconds.push(ms / 1_000);
    return ms / 1_000;
  }

  addLines(lines: readonly string[]): void {
    for (const line of lines) add(this.#lines, line);
  }

  figures(): Figures {
    const [typical, worst] = [median(this.#seconds) ?? Number.NaN, Math.max(...this.#seconds)];
    const lines = Object.entries(this.#lines).toSorted(([, one], [, other]) => other - one);
    return {
      [`${this.name}: s without writes`]: `median ${typical.toFixed(1)}, worst ${worst.toFixed(1)}`,
      [`${this.name}: logged`]: lines.map(([line, count]) => `${count} × ${line}`).join('; '),
    };
  }
}
