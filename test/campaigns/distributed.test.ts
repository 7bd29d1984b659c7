import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runDistributed } from '../../campaigns/distributed/campaign.ts';
import { emulateCitus, engines } from '../../testkit/engines.ts';

test('contract and additions work with the statements for Citus, and their rates are measured', async () => {
  emulateCitus();
  await using address = await engines[0]?.createAddress();
  const cluster = { url: address?.dbUrl ?? '' };
  const options = { engine: 'PostgreSQL', rounds: 1, seed: 1, report: () => {}, cluster } as const;
  const figures = await runDistributed(options, { additions: 100, ms: 200, rounds: 1, books: 3_000 });
  assert.ok(Number(figures.rules) > 100);
  assert.ok(Number(figures['POST a second, 8 clients']) > 0);
  assert.equal(figures['GET /books, books'], 3_000);
});
