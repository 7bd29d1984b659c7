import assert from 'node:assert/strict';
import { findFreePort } from '../../testkit/free-port.ts';
import { createDatabase, startCluster } from '../../testkit/postgres.ts';
import { Relay } from '../../testkit/relay.ts';
import { addStandby } from '../../testkit/standby.ts';
import { withHosts } from '../../testkit/with-hosts.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { describeWaits } from '../outage/campaign.ts';
import { runOutage } from '../outage/run-outage.ts';
import { Trial } from '../trial.ts';

export const campaign: Campaign = {
  summary:
    'the primary of a synchronously replicated PostgreSQL is killed or freezes, and its standby promoted, under 16 clients',
  rounds: [6],
  engines: ['PostgreSQL'],
  async run(options) {
    const figures: (readonly [string, number | string])[] = [];
    for (const way of ['hosts', 'relay'] as const) {
      const found = Object.entries(await failOver(options, { way, writingMsMax: 5_000 }));
      figures.push(...found.map(([name, figure]) => [`${way}: ${name}`, figure] as const));
    }
    return Object.fromEntries(figures);
  },
};

/** How the service finds the new primary. */
interface FailOver {
  /** Whether the service has both hosts in its address, or one address that is relayed to the primary. */
  readonly way: 'hosts' | 'relay';
  /** The time limit from the promotion to the first acknowledged write. */
  readonly writingMsMax: number;
}

/**
 * In every round adds a synchronous standby, then kills or freezes the primary. A frozen one keeps its connections, and the
 * kernel accepts new ones, but it never responds.
 */
export async function failOver(
  { rounds, seed, report }: CampaignOptions,
  { way, writingMsMax }: FailOver,
): Promise<Figures> {
  await using servers = new AsyncDisposableStack();
  let primary = servers.use(await startCluster());
  const { url } = await createDatabase({ server: primary.url });
  await using relay = await Relay.open(primary.port);
  let vacantPort = await findFreePort();
  const ports = way === 'relay' ? [relay.port] : [vacantPort, primary.port];
  await using trial = await Trial.open({ dbUrl: withHosts(url, ports), seed });
  await trial.start();
  let slowestMs = 0;
  for (let round = 1; round <= rounds; round++) {
    const former = primary;
    const standby = await addStandby(former, vacantPort);
    primary = servers.use(standby.cluster);
    const waits = await runOutage(trial, {
      isDown: true,
      lastsMs: 0,
      begin: () => (way === 'hosts' && round % 2 === 0 ? former.freeze() : former.stop('kill')),
      async end() {
        await standby.promote();
        relay.target = primary.port;
      },
    });
    report(`${round}: ${describeWaits(waits)}`);
    assert.ok(waits.firstMs <= writingMsMax, `no write was acknowledged for ${waits.firstMs} ms`);
    slowestMs = Math.max(slowestMs, Math.round(waits.firstMs));
    await former[Symbol.asyncDispose]();
    vacantPort = former.port;
  }
  await trial.stop();
  return { failovers: rounds, ...trial.writes, 'longest from promotion to first write, ms': slowestMs };
}
