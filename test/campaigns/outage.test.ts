import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loseStore } from '../../campaigns/outage/campaign.ts';

test('PostgreSQL may restart, die, freeze or send everybody away: 503 meanwhile, then as before, with nothing lost', async () => {
  const seed = Date.now() % 1_000_000;
  const options = { engine: 'PostgreSQL', rounds: 1, seed, report: () => {} } as const;
  const { acknowledged } = await loseStore(options, { share: 0, isTimed: false });
  assert.ok(Number(acknowledged) >= 7 * 200);
});
