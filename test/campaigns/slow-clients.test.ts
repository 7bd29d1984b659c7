import { test } from 'node:test';
import { beset } from '../../campaigns/slow-clients/campaign.ts';

test('clients that trickle, stall, say nothing or take up memory are cut off, while others go on', async () => {
  const limits = { headers: 1, request: 2, stall: 2 };
  await beset({ limits, share: 0.05, isMeasured: false, report: () => {} });
});
