import { createDatabase, startCluster } from '../../testkit/postgres.ts';
import { Relay } from '../../testkit/relay.ts';
import { withPort } from '../../testkit/with-port.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { Random } from '../random.ts';
import { outagesOf, relayFaultsOf } from './outages.ts';
import { combine, type OutageForm, runOutages } from './run-outages.ts';

export const campaign: Campaign<OutageForm> = {
  summary:
    'PostgreSQL restarts, crashes, freezes, is down and terminates all connections; then a relay before it stalls, forgets and cuts connections; under 16 clients and 50 further requests a second',
  engines: ['PostgreSQL'],
  full: { rounds: [2], share: 1, isTimed: true },
  short: { rounds: [1], share: 0, isTimed: false },
  run,
};

async function run(options: CampaignOptions, form: OutageForm): Promise<Figures> {
  await using cluster = await startCluster();
  const { url } = await createDatabase({ server: cluster.url });
  const ofServer = await runOutages(options, form, {
    url,
    dbUrl: url,
    outages: () => outagesOf(cluster, url, form.share),
    responseMsMax: 2_000,
    writingMsMax: 2_000,
  });
  await using relay = await Relay.open(cluster.port);
  const { url: other } = await createDatabase({ server: cluster.url });
  const random = new Random(options.seed);
  const ofRelay = await runOutages(options, form, {
    url: other,
    dbUrl: withPort(other, relay.port),
    outages: () => relayFaultsOf(relay, random, form.share),
    // A PUT needs two statements, each of which ends within 1.6 seconds.
    responseMsMax: 3_500,
    writingMsMax: 5_000,
  });
  return combine(ofServer, ofRelay);
}
