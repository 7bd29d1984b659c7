import assert, { AssertionError } from 'node:assert/strict';
import { test } from 'node:test';
import { type EngineName, runShort } from '../../campaigns/campaign.ts';
import { campaign } from '../../campaigns/follow/campaign.ts';
import { Violation } from '../../campaigns/follow/follower.ts';
import { RefusedError } from '../../client/index.ts';

for (const engine of campaign.engines) {
  test(`followers have every change once and in order, whatever is killed: on ${engine}`, async () => {
    const { writes } = await runShort(campaign, engine);
    assert.ok(Number(writes) > 0);
  });
}

/** On SQLite: followers are not told what was removed. */
const HIDE = 'update book_history set removed = 0, removed_nonce = 0;';

/** SQL that breaks the log of changes. */
const FAULTS: Readonly<Record<EngineName, Readonly<Record<string, (dbUrl: string) => string>>>> = {
  SQLite: {
    'a log without new books': () =>
      `create trigger forget after insert on book_changes when new.type = 'created'
       begin delete from book_changes where note = new.note; end`,
    'a log that is pruned without a trace': () =>
      `create trigger prune after insert on book_changes
       begin delete from book_changes where note <= new.note - 30; ${HIDE} end`,
    'a log that each start empties without a trace': () =>
      `create trigger empty after update of days on book_history
       begin delete from book_changes where note < (select max(note) from book_changes); ${HIDE} end`,
  },
  PostgreSQL: {
    'a feed in the order of the sequence': () => `
    create or replace function book_history_last() returns bigint language sql as
    $$ select coalesce(pg_sequence_last_value('book_history_note'), 0) $$`,
    'cursors that are the same in a copy of the server': () => `
    alter table book_history_changes alter nonce set default 7`,
    'a history of books that waits for open transactions': () => `
    alter table book_history_changes rename to all_changes;
    create view book_history_changes as select * from all_changes where note <= book_history_last()`,
    'a log that is written outside the transaction': (dbUrl) => `
    create extension dblink;
    create function record_outside() returns trigger language plpgsql as $$
    begin
      perform public.dblink_exec(
        '${dbUrl}?options=-csession_replication_role%3Dreplica',
        format('insert into book_history_changes select (%L::book_history_changes).*', new)
      );
      return null;
    end $$;
    create trigger outside before insert on book_history_changes for each row execute function record_outside()`,
  },
};

for (const engine of campaign.engines) {
  for (const [name, fault] of Object.entries(FAULTS[engine])) {
    test(`the campaign finds ${name}`, async () => {
      // It ends with the round that finds the fault, most often the first.
      const roundMs = engine === 'SQLite' ? 300 : 1_000;
      const form = { rounds: [], roundMs, fault };
      const seed = Date.now() % 1_000_000;
      const running = campaign.run({ engine, rounds: 30, seed, report: () => {} }, form);
      const found = [Violation, AssertionError, RefusedError];
      await assert.rejects(running, (error) => found.some((type) => error instanceof type));
    });
  }
}
