import assert from 'node:assert/strict';
import { createFolder } from '../../testkit/folder.ts';
import { findFreePort } from '../../testkit/free-port.ts';
import { createDatabase, startCluster } from '../../testkit/postgres.ts';
import { Relay } from '../../testkit/relay.ts';
import { addStandby } from '../../testkit/standby.ts';
import { withPort } from '../../testkit/with-port.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import type { Clients } from '../clients.ts';
import { add, raise } from '../figures.ts';
import { balanceCopies, Haproxy } from '../haproxy.ts';
import type { Journal } from '../journal.ts';
import { Trial } from '../trial.ts';

export const campaign: Campaign = {
  summary:
    'three copies behind HAProxy, on PostgreSQL with a synchronous standby, restart in turn without a failed request; then the primary is killed, and no write is lost',
  needs: 'haproxy',
  rounds: [5],
  engines: ['PostgreSQL'],
  run: restartAndFailOver,
};

/** Clients that keep their connections, and others that open one for every request. */
const CLIENTS = [{ count: 16 }, { count: 8, keepsConnections: false }];

/** The minimum of acknowledged writes before and after each event. */
const WRITES = 200;

/** The time limit from the promotion to the first acknowledged write. */
const WRITING_MS_MAX = 5_000;

async function restartAndFailOver({ rounds, seed, report }: CampaignOptions): Promise<Figures> {
  await using resources = new AsyncDisposableStack();
  let primary = resources.use(await startCluster());
  const { url } = await createDatabase({ server: primary.url });
  const relay = resources.use(await Relay.open(primary.port));
  const dbUrl = withPort(url, relay.port);
  const variables = { TRUST_PROXY: '127.0.0.1', STOP_DELAY_SECONDS: '1' };
  const trial = resources.use(await Trial.open({ dbUrl, seed, variables }));
  const folder = resources.use(await createFolder());
  const ports = [await findFreePort(), await findFreePort(), await findFreePort()];
  for (const port of ports) await trial.start(port);
  const proxy = resources.use(await Haproxy.start(balanceCopies(trial.target.port, ports), folder.path));

  const figures: Record<string, number> = { 'rolling restarts': rounds, failovers: rounds, failed: 0 };
  for (let round = 1; round <= rounds; round++) {
    const standby = await addStandby(primary);
    await proxy.ready(ports.length);
    const { calls } = await underLoad(trial, async (clients) => {
      for (const port of ports) {
        raise(figures, 'slowest stop, ms', Math.round(await trial.stop(port)));
        await trial.start(port);
        await proxy.ready(ports.length);
        await clients.progress(WRITES);
      }
    });
    const failures = failuresIn(calls);
    add(figures, 'requests', calls.length);
    add(figures, 'failed', failures.length);
    report(`${round}: ${calls.length} requests during the rolling restart, failed: ${failures.length}`);
    assert.deepEqual(failures, []);

    const former = primary;
    primary = resources.use(standby.cluster);
    let backMs = 0;
    const failover = await underLoad(trial, async (clients) => {
      await former.stop('kill');
      await standby.promote();
      relay.target = primary.port;
      backMs = performance.now();
      await clients.progress(WRITES);
    });
    const firstMs = Math.round(failover.firstWriteMs(backMs));
    report(`${round}: first write ${firstMs} ms after the failover; outcome unknown: ${failover.unknown}`);
    assert.ok(firstMs <= WRITING_MS_MAX, `no write was acknowledged for ${firstMs} ms`);
    raise(figures, 'longest from promotion to first write, ms', firstMs);
    await former[Symbol.asyncDispose]();
  }
  await Promise.all(ports.map((port) => trial.stop(port)));
  return { ...figures, ...trial.writes };
}

/** Runs clients through the proxy during `disturb`, and asserts that no write is lost. */
async function underLoad(trial: Trial, disturb: (clients: Clients) => Promise<void>): Promise<Journal> {
  const journal = await trial.underLoad(async (clients) => {
    await clients.progress(WRITES);
    await disturb(clients);
  }, CLIENTS);
  assert.deepEqual(await trial.judge(journal), []);
  return journal;
}

/** The requests that got neither 2xx nor 404. */
function failuresIn(calls: Journal['calls']): string[] {
  return calls.flatMap(({ kind, outcome }) => {
    if (outcome.is === 'unknown') return [`${kind}: ${outcome.reason}`];
    return outcome.is === 'rejected' ? [`${kind}: status ${outcome.status}`] : [];
  });
}
