import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runImports } from '../../campaigns/imports/campaign.ts';

test('an import that is killed at a random time and run again stores every row once, on SQLite', async () => {
  const seed = Date.now() % 1_000_000;
  const { rows } = await runImports({ engine: 'SQLite', rounds: 2, seed, report: () => {} }, 20_000);
  assert.equal(rows, 20_000);
});
