import { test } from 'node:test';
import { runShort } from '../../campaigns/campaign.ts';
import { campaign } from '../../campaigns/slow-clients/campaign.ts';

test('clients that send slowly, stall, stay idle or hold memory are disconnected, while others are served', async () => {
  await runShort(campaign);
});
