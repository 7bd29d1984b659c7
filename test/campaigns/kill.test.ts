import assert from 'node:assert/strict';
import { test } from 'node:test';
import { campaign } from '../../campaigns/kill/campaign.ts';

for (const [engine, rounds] of [
  ['SQLite', 2],
  ['PostgreSQL', 1],
] as const) {
  test(`no acknowledged write is lost by SIGKILL, also during startup: ${rounds} times on ${engine}`, async () => {
    const seed = Date.now() % 1_000_000;
    const { acknowledged } = await campaign.run({ engine, rounds, seed, report: () => {} });
    assert.ok(Number(acknowledged) >= rounds * 500);
  });
}
