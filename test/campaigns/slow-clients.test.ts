import { test } from 'node:test';
import { runAttacks } from '../../campaigns/slow-clients/campaign.ts';

test('clients that send slowly, stall, stay idle or hold memory are disconnected, while others are served', async () => {
  const limits = { headers: 1, request: 2, stall: 2 };
  await runAttacks({ limits, share: 0.05, isMeasured: false, report: () => {} });
});
