import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runShort } from '../../campaigns/campaign.ts';
import { campaign } from '../../campaigns/failover/campaign.ts';

test('no acknowledged write is lost when a synchronous standby replaces a primary that is killed, or freezes', async () => {
  const { acknowledged } = await runShort(campaign);
  assert.ok(Number(acknowledged) >= 2 * 200);
});
