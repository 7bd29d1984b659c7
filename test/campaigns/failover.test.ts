import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failOver } from '../../campaigns/failover/campaign.ts';

test('no acknowledged write is lost when a synchronous standby replaces a primary that is killed, or freezes', async () => {
  const seed = Date.now() % 1_000_000;
  const options = { engine: 'PostgreSQL', rounds: 2, seed, report: () => {} } as const;
  const { acknowledged } = await failOver(options, { writingMsMax: Number.POSITIVE_INFINITY });
  assert.ok(Number(acknowledged) >= 2 * 200);
});
