import assert from 'node:assert/strict';
import { createFolder } from '../../testkit/folder.ts';
import { findFreePort } from '../../testkit/free-port.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import type { Clients } from '../clients.ts';
import { add, raise } from '../figures.ts';
import { balanceCopies, Haproxy } from '../haproxy.ts';
import type { Journal } from '../journal.ts';
import { programs } from '../needs.ts';
import { createAddress } from '../service.ts';
import { Trial } from '../trial.ts';

export const campaign: Campaign = {
  summary:
    'three copies behind HAProxy, on PostgreSQL, restart in turn under 24 clients: no request fails, and no write is lost',
  recorded: ['requests', 'failed', 'acknowledged'],
  needs: programs(['haproxy']),
  engines: ['PostgreSQL'],
  full: { rounds: [10] },
  short: { rounds: [1] },
  run: restartCopies,
};

/** Clients that keep their connections, and others that open one for every request. */
const CLIENTS = [{ count: 16 }, { count: 8, keepsConnections: false }];

/** The minimum of acknowledged writes before the first stop, and after each start. */
const WRITES = 200;

async function restartCopies({ engine, rounds, seed, report }: CampaignOptions): Promise<Figures> {
  await using resources = new AsyncDisposableStack();
  const { dbUrl } = resources.use(await createAddress(engine));
  const variables = { TRUST_PROXY: '127.0.0.1', STOP_DELAY_SECONDS: '1' };
  const trial = resources.use(await Trial.open({ dbUrl, seed, variables }));
  const folder = resources.use(await createFolder());
  const ports = [await findFreePort(), await findFreePort(), await findFreePort()];
  for (const port of ports) await trial.start(port);
  const proxy = resources.use(await Haproxy.start(balanceCopies(trial.target.port, ports), folder.path));

  await assertHidden(trial.target.port);

  const figures: Record<string, number> = { requests: 0, failed: 0 };
  for (let round = 1; round <= rounds; round++) {
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
  }
  await Promise.all(ports.map((port) => trial.stop(port)));
  return { ...figures, ...trial.writes };
}

/** Asserts that the proxy itself, whose responses have no request id, hides what is not public, also with escapes. */
async function assertHidden(port: number): Promise<void> {
  for (const path of ['/metrics', '/%6detrics', '/m%65trics?x=1', '/readyz', '/%72eadyz']) {
    const { status, headers } = await fetch(`http://localhost:${port}${path}`);
    assert.equal(status, 404, path);
    assert.equal(headers.get('x-request-id'), null, `${path} has reached a copy`);
  }
  assert.equal((await fetch(`http://localhost:${port}/nowhere`)).headers.has('x-request-id'), true);
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
