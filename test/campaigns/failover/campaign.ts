import assert from 'node:assert/strict';
import { createDatabase, startCluster } from '../../support/postgres.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { inWords } from '../outage/campaign.ts';
import { Subject } from '../outage/subject.ts';
import { Relay } from './relay.ts';
import { addStandby } from './standby.ts';

export const campaign: Campaign = {
  summary:
    'the primary of a synchronously replicated PostgreSQL is killed and its standby promoted, under 16 clients',
  rounds: [5],
  engines: ['PostgreSQL'],
  run: (options) => failOver(options, 5_000),
};

/**
 * Kills the primary in every round, after it was given a standby that it waits for.
 *
 * @param writingMsMax how long it may take from the promotion until a write is acknowledged
 */
export async function failOver(
  { rounds, seed, report }: CampaignOptions,
  writingMsMax: number,
): Promise<Figures> {
  await using servers = new AsyncDisposableStack();
  let primary = servers.use(await startCluster());
  const { url } = await createDatabase({ server: primary.url });
  await using relay = await Relay.open(primary.port);
  await using subject = await Subject.start(
    Object.assign(new URL(url), { port: `${relay.port}` }).href,
    seed,
  );
  let slowestMs = 0;
  for (let round = 1; round <= rounds; round++) {
    const former = primary;
    const standby = await addStandby(former);
    primary = servers.use(standby.cluster);
    const waits = await subject.endure({
      isAway: true,
      lastsMs: 0,
      begin: () => former.stop('kill'),
      async end() {
        await standby.promote();
        relay.target = primary.port;
      },
    });
    report(`${round}: ${inWords(waits)}`);
    assert.ok(waits.firstMs <= writingMsMax, `nothing was written for ${waits.firstMs} ms`);
    slowestMs = Math.max(slowestMs, Math.round(waits.firstMs));
    await former[Symbol.asyncDispose]();
  }
  await subject.stop();
  return { failovers: rounds, ...subject.writes, 'longest from promotion to first write, ms': slowestMs };
}
