import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failOver } from '../../campaigns/failover/campaign.ts';

const WAYS = {
  hosts: 'which DB_URL lists beside it',
  relay: 'at the same address',
} as const;

for (const way of ['hosts', 'relay'] as const) {
  test(`no acknowledged write is lost when a synchronous standby, ${WAYS[way]}, replaces a killed primary`, async () => {
    const seed = Date.now() % 1_000_000;
    const options = { engine: 'PostgreSQL', rounds: 1, seed, report: () => {} } as const;
    const { acknowledged } = await failOver(options, { way, writingMsMax: Number.POSITIVE_INFINITY });
    assert.ok(Number(acknowledged) >= 200);
  });
}
