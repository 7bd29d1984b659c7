import { test } from 'node:test';
import { runShort } from '../../campaigns/campaign.ts';
import { campaign } from '../../campaigns/raw-http/campaign.ts';

test('every pipelined request gets its own response; malformed HTTP gets one error response, and the connection is closed', async () => {
  await runShort(campaign);
});
