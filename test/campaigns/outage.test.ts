import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runShort } from '../../campaigns/campaign.ts';
import { campaign } from '../../campaigns/outage/campaign.ts';

test('while PostgreSQL or the way to it is down, stalls or cuts connections, requests get 503; afterwards they succeed, and no write is lost', async () => {
  const { acknowledged } = await runShort(campaign);
  assert.ok(Number(acknowledged) >= 10 * 200);
});
