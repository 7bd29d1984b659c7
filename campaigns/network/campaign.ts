import { createDatabase, startCluster } from '../../testkit/postgres.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { LINUX, NETWORK_NAMESPACES, ROOT } from '../needs.ts';
import type { Outage } from '../run-outage.ts';
import { Link, type Loss } from './link.ts';
import { type OutageForm, runOutages } from './run-outages.ts';

export const campaign: Campaign<OutageForm> = {
  summary:
    'the network between the service and PostgreSQL loses the packets of both or one side for 5 to 60 s without a reset, under 16 clients and 50 further requests a second',
  recorded: ['outages', 'acknowledged', 'slowest response, ms'],
  needs: [LINUX, ROOT, NETWORK_NAMESPACES],
  engines: ['PostgreSQL'],
  full: { rounds: [1], share: 1, isTimed: true },
  short: { rounds: [1], share: 0, isTimed: false },
  run,
};

/** PostgreSQL runs in a network namespace of its own. */
async function run(options: CampaignOptions, form: OutageForm): Promise<Figures> {
  await using link = await Link.create();
  await using cluster = await startCluster({ network: link });
  const { url } = await createDatabase({ server: cluster.url });
  const loss = (from: Loss, seconds: number): Outage => ({
    lastsMs: seconds * 1_000 * form.share,
    begin: () => link.lose(from),
    end: () => link.restore(),
  });
  return await runOutages(options, form, url, {
    'cut for 5 s': loss('both', 5),
    'cut for 30 s': loss('both', 30),
    'cut for 60 s': loss('both', 60),
    'requests lost for 30 s': loss('here', 30),
    'responses lost for 30 s': loss('there', 30),
  });
}
