import assert from 'node:assert/strict';
import { PASSWORD } from '../../test/http/service.ts';
import { createFolder } from '../../test/support/folder.ts';
import { findFreePort } from '../../test/support/free-port.ts';
import { type Cluster, createDatabase, startCluster } from '../../test/support/postgres.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { Clients } from '../clients.ts';
import { addStandby } from '../failover/standby.ts';
import { withHosts } from '../failover/with-hosts.ts';
import type { Journal } from '../journal.ts';
import { TimedJournal } from '../outage/timed-journal.ts';
import { Trial } from '../trial.ts';
import { Copies } from './copies.ts';
import { Haproxy } from './haproxy.ts';

export const campaign: Campaign = {
  summary:
    'three copies behind HAProxy, on PostgreSQL with a synchronous standby, restart in turn without a failed request; then the primary is killed, and no write is lost',
  needs: 'haproxy',
  rounds: [5],
  engines: ['PostgreSQL'],
  run: restartAndFailOver,
};

const COPIES = 3;

/** How many clients keep their connections, and how many open one for every request. */
const CLIENTS = { keepAlive: 16, reconnecting: 8 };

/** How many writes are acknowledged before and after each event, at least. */
const WRITES = 200;

/** How long it may take from the promotion until a write is acknowledged. */
const WRITING_MS_MAX = 5_000;

async function restartAndFailOver({ rounds, seed, report }: CampaignOptions): Promise<Figures> {
  await using resources = new AsyncDisposableStack();
  let primary = resources.use(await startCluster());
  const { url } = await createDatabase({ server: primary.url });
  let vacantPort = await findFreePort();
  const dbUrl = withHosts(url, [primary.port, vacantPort]);

  const trial = resources.use(await Trial.open({ dbUrl, seed }));
  const folder = resources.use(await createFolder());
  const copies = resources.use(
    await Copies.start(COPIES, {
      DB_URL: dbUrl,
      SECRET_TOKEN: trial.target.secret,
      AUTH_PASSWORD: PASSWORD,
      TRUST_PROXY: '127.0.0.1',
      STOP_DELAY_SECONDS: '1',
    }),
  );
  const proxy = resources.use(await Haproxy.start(trial.target.port, copies.ports, folder.path));

  const seen = {
    requests: 0,
    failed: 0,
    'slowest stop, ms': 0,
    'longest from promotion to first write, ms': 0,
  };
  for (let round = 1; round <= rounds; round++) {
    const standby = await addStandby(primary, vacantPort);
    await proxy.ready(COPIES);

    const rolling = await underLoad(trial, seed + 2 * round, async (clients) => {
      for (let index = 0; index < COPIES; index++) {
        const stopMs = Math.round(await copies.restart(index));
        seen['slowest stop, ms'] = Math.max(seen['slowest stop, ms'], stopMs);
        await proxy.ready(COPIES);
        await clients.progress(WRITES);
      }
    });
    const failures = failuresIn(rolling);
    seen.requests += rolling.calls.length;
    seen.failed += failures.length;
    report(
      `${round}: ${rolling.calls.length} requests during the rolling restart, failed: ${failures.length}`,
    );
    assert.deepEqual(failures, []);

    const former: Cluster = primary;
    primary = resources.use(standby.cluster);
    let backMs = 0;
    const failover = await underLoad(trial, seed + 2 * round + 1, async (clients) => {
      await former.stop('kill');
      await standby.promote();
      backMs = performance.now();
      await clients.progress(WRITES);
    });
    const firstMs = Math.round(firstWriteAfter(failover, backMs) - backMs);
    report(`${round}: first write ${firstMs} ms after the failover; outcome unknown: ${failover.unknown}`);
    assert.ok(firstMs <= WRITING_MS_MAX, `no write was acknowledged for ${firstMs} ms`);
    seen['longest from promotion to first write, ms'] = Math.max(
      seen['longest from promotion to first write, ms'],
      firstMs,
    );
    await former[Symbol.asyncDispose]();
    vacantPort = former.port;
  }
  await copies.stop();
  return { 'rolling restarts': rounds, failovers: rounds, ...seen, ...trial.writes };
}

/** Runs clients through the proxy during `disturb`, and asserts that no write is lost. */
async function underLoad(
  trial: Trial,
  seed: number,
  disturb: (clients: Clients) => Promise<void>,
): Promise<TimedJournal> {
  const journal = new TimedJournal();
  const { target } = trial;
  const keepAlive = new Clients({ target, journal, count: CLIENTS.keepAlive, seed });
  const reconnecting = new Clients({
    target,
    journal,
    count: CLIENTS.reconnecting,
    seed: -seed,
    keepsConnections: false,
  });
  try {
    await keepAlive.progress(WRITES);
    await disturb(keepAlive);
  } finally {
    await Promise.all([keepAlive.stop(), reconnecting.stop()]);
  }
  assert.deepEqual(await trial.judge(journal), []);
  return journal;
}

/** The requests that got neither 2xx nor 404. */
function failuresIn({ calls }: Journal): string[] {
  return calls.flatMap(({ kind, outcome }) => {
    if (outcome.is === 'unknown') return [`${kind}: ${outcome.reason}`];
    return outcome.is === 'rejected' ? [`${kind}: status ${outcome.status}`] : [];
  });
}

function firstWriteAfter({ exchanges }: TimedJournal, ms: number): number {
  const first = exchanges.find(
    ({ operation, outcome, endMs }) => operation.kind !== 'find' && outcome.is === 'done' && endMs >= ms,
  );
  return first?.endMs ?? Number.NaN;
}
