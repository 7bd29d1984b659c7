import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stopRepeatedly } from '../../campaigns/stop/campaign.ts';

test('after SIGTERM under load every request that has arrived gets its response, and the exit code is 0', async () => {
  const seed = Date.now() % 2 ** 31;
  const figures = await stopRepeatedly(
    { engine: 'SQLite', rounds: 2, seed, report: () => {} },
    Number.POSITIVE_INFINITY,
  );
  assert.ok(Number(figures.answered) >= 1_000);
});
