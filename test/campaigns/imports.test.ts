import assert from 'node:assert/strict';
import { test } from 'node:test';
import { campaign, runImports } from '../../campaigns/imports/campaign.ts';

for (const engine of campaign.engines) {
  test(`an import that is killed at a random time and run again stores every row once, on ${engine}`, async () => {
    const seed = Date.now() % 1_000_000;
    const { rows } = await runImports({ engine, rounds: 1, seed, report: () => {} }, 12_000);
    assert.equal(rows, 12_000);
  });
}
