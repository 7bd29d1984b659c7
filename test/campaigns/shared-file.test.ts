import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareFile } from '../../campaigns/shared-file/campaign.ts';

test('two services share an SQLite file with processes that read, write, back up and checkpoint it, and serve all requests', async () => {
  const seed = Date.now() % 1_000_000;
  const figures = await shareFile({ rounds: 1, seed, report: () => {} }, 3_000);
  for (const name of ['acknowledged', 'long reads', 'writes of others', 'checkpoints', 'backups']) {
    assert.ok(Number(figures[name]) > 0, name);
  }
});
