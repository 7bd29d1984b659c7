import assert from 'node:assert/strict';
import { test } from 'node:test';
import { campaign } from '../../campaigns/bodies/campaign.ts';

test('whatever is sent, both engines answer in the envelope, alike to the byte, and store what they say', async () => {
  const seed = Date.now() % 2 ** 31;
  const figures = await campaign.run({ engine: 'SQLite', rounds: 10_000, seed, report: () => {} });
  for (const status of [200, 201, 400, 401, 404]) {
    assert.ok(
      Number(figures[`answered ${status}`]) > 0,
      `nothing was answered ${status}: the requests are too tame`,
    );
  }
});
