import { test } from 'node:test';
import { runShort } from '../../campaigns/campaign.ts';
import { campaign } from '../../campaigns/overload/campaign.ts';

test('under overload every request gets 2xx, or 503 with Retry-After; after it no request gets 503', async () => {
  await runShort(campaign);
});
