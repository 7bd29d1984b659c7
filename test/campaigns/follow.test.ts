import assert from 'node:assert/strict';
import { test } from 'node:test';
import { campaign, run } from '../../campaigns/follow/campaign.ts';

const options = { seed: Date.now() % 1_000_000, report: () => {} };

for (const engine of campaign.engines) {
  test(`followers have every change once and in order, whatever is killed: on ${engine}`, async () => {
    const { writes } = await campaign.run({ engine, rounds: 2, ...options });
    assert.ok(Number(writes) > 20);
  });
}

for (const [name, fault] of [
  [
    'a feed in the order of the sequence',
    `create or replace function book_history_last() returns bigint language sql as
     $$ select coalesce(pg_sequence_last_value('book_history_note'), 0) $$`,
  ],
  ['a log without the new books', 'drop trigger book_history_insert on books'],
] as const) {
  test(`the campaign finds ${name}`, async () => {
    await assert.rejects(run({ engine: 'PostgreSQL', rounds: 5, ...options }, fault));
  });
}
