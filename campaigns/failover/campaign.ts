import assert from 'node:assert/strict';
import { createDatabase, startCluster } from '../../testkit/postgres.ts';
import { Relay } from '../../testkit/relay.ts';
import { addStandby } from '../../testkit/standby.ts';
import { withPort } from '../../testkit/with-port.ts';
import type { Campaign, CampaignOptions, Figures, Form } from '../campaign.ts';
import { describeWaits, runOutage } from '../run-outage.ts';
import { Trial } from '../trial.ts';

export const campaign: Campaign<FailoverForm> = {
  summary:
    'the primary of a synchronously replicated PostgreSQL is killed or freezes, and its standby promoted at the same address, under 16 clients',
  recorded: ['failovers', 'acknowledged', 'longest from promotion to first write, ms'],
  engines: ['PostgreSQL'],
  full: { rounds: [20], writingMsMax: 5_000 },
  short: { rounds: [2], writingMsMax: Number.POSITIVE_INFINITY },
  run: failOver,
};

interface FailoverForm extends Form {
  /** The time limit from the promotion to the first acknowledged write. */
  readonly writingMsMax: number;
}

/**
 * In every round adds a synchronous standby, then kills or freezes the primary. A frozen one keeps its connections, and the
 * kernel accepts new ones, but it never responds.
 */
async function failOver(
  { rounds, seed, report }: CampaignOptions,
  { writingMsMax }: FailoverForm,
): Promise<Figures> {
  await using servers = new AsyncDisposableStack();
  let primary = servers.use(await startCluster());
  const { url } = await createDatabase({ server: primary.url });
  await using relay = await Relay.open(primary.port);
  await using trial = await Trial.open({ dbUrl: withPort(url, relay.port), seed });
  await trial.start();
  let slowestMs = 0;
  for (let round = 1; round <= rounds; round++) {
    const former = primary;
    const standby = await addStandby(former);
    primary = servers.use(standby.cluster);
    const waits = await runOutage(trial, {
      isFailover: true,
      lastsMs: 0,
      begin: () => (round % 2 === 0 ? former.freeze() : former.stop('kill')),
      async end() {
        await standby.promote();
        relay.target = primary.port;
      },
    });
    report(`${round}: ${describeWaits(waits)}`);
    assert.ok(waits.firstMs <= writingMsMax, `no write was acknowledged for ${waits.firstMs} ms`);
    slowestMs = Math.max(slowestMs, Math.round(waits.firstMs));
    await former[Symbol.asyncDispose]();
  }
  await trial.stop();
  return {
    failovers: rounds,
    ...trial.writes,
    'unacknowledged, read, then absent': trial.vanished,
    'longest from promotion to first write, ms': slowestMs,
  };
}
