import assert from 'node:assert/strict';
import { test } from 'node:test';
import { campaign } from '../../campaigns/kill/campaign.ts';

for (const engine of campaign.engines) {
  test(`no acknowledged write is lost by SIGKILL, also during startup, on ${engine}`, async () => {
    const seed = Date.now() % 1_000_000;
    const { acknowledged } = await campaign.run({ engine, rounds: 1, seed, report: () => {} });
    assert.ok(Number(acknowledged) >= 500);
  });
}
