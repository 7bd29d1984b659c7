import assert from 'node:assert/strict';
import { test } from 'node:test';
import { campaign } from '../../campaigns/tokens/campaign.ts';

test('no forged token is accepted, and of 4,000 mutations exactly those that jose accepts, except for documented differences', async () => {
  const seed = Date.now() % 2 ** 31;
  const figures = await campaign.run({ engine: 'SQLite', rounds: 4_000, seed, report: () => {} });
  assert.ok(Number(figures.attacks) >= 150);
  // Otherwise the mutations are too large, or too small.
  assert.ok(Number(figures.accepted) > 400 && Number(figures.rejected) > 400, JSON.stringify(figures));
  for (const decided of [
    'base64url that is not canonical',
    'the critical extension b64',
    'iat that is no number',
  ]) {
    assert.ok(Number(figures[`unlike jose: ${decided}`]) > 0, decided);
  }
});
