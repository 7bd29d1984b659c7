import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runImports } from '../../campaigns/imports/campaign.ts';

test('an import on SQLite that is killed at any moment and run again has every row once', async () => {
  const seed = Date.now() % 1_000_000;
  const { rows } = await runImports({ engine: 'SQLite', rounds: 2, seed, report: () => {} }, 20_000);
  assert.equal(rows, 20_000);
});
