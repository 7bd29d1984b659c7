import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ChangePage, ChangeRequest } from '../../book/book-history.ts';
import { type ChangeRow, changeStatements, toChangePage, valuesOf } from '../page.ts';
import { REMOVAL_MAX } from '../store-limits.ts';
import { transact } from './files/connection.ts';
import { hasTable } from './migrations.ts';
import { CHANGE_LOG } from './search/search-schema.ts';
import { BOOK_COLUMNS } from './sql.ts';

/**
 * The log of changes, in which triggers record what any program writes, in its transaction. Without a history, the same
 * table has only what the search index needs.
 */

/** Starts to record the history, and keeps it for some days; or stops. */
export async function prepareHistory(database: DatabaseSync, days: number | undefined): Promise<void> {
  const isRecorded = hasTable(database, 'book_history_insert');
  if (days === undefined) {
    if (isRecorded) await transact(database, () => database.exec(STOP));
    return;
  }
  if (isRecorded && database.prepare('select days from book_history').get()?.days === days) return;
  await transact(database, () => {
    if (!hasTable(database, 'book_history_insert')) {
      database.exec(TABLES);
      if (!hasTable(database, 'book_changes_by_book')) database.exec(COLUMNS);
      database.exec(START);
    }
    database.prepare('update book_history set days = ?').run(days);
  });
}

/** One row: changes up to the note `removed` are no longer kept, or were recorded without their books. */
const TABLES = `
  create table if not exists book_history (log text not null, removed integer not null, days integer) strict;
  insert into book_history (log, removed)
    select lower(hex(randomblob(8))), 0 where not exists (select 1 from book_history);
  create table if not exists book_changes (note integer primary key autoincrement, id integer not null) strict;
`;

const COLUMNS = `
  alter table book_changes add column type text;
  alter table book_changes add column at integer;
  alter table book_changes add column title text;
  alter table book_changes add column author text;
  alter table book_changes add column year integer;
  create index book_changes_by_book on book_changes (id);
  create index book_changes_deleted on book_changes (type) where type = 'deleted';
`;

/** For SQLite from 3.37 on, with which other programs may write. */
const NOW_MS = "cast(round((julianday('now') - 2440587.5) * 86400000) as integer)";

const record = (row: 'old' | 'new', type: string) => `
  insert into book_changes (id, type, at, title, author, year)
  select ${row}.id, ${type}, ${NOW_MS},
    cast(coalesce(${row}.title, '') as text), cast(coalesce(${row}.author, '') as text),
    cast(coalesce(${row}.year, 0) as integer)`;

const DROP_TRIGGERS = `
  drop trigger if exists book_history_insert;
  drop trigger if exists book_history_update;
  drop trigger if exists book_history_delete;
`;

/**
 * The triggers must not fail, as they run in the transactions of all writers. A note is taken, so that the cursors of an
 * earlier recording are below `removed`: changes are missing since.
 */
const START = `
  ${DROP_TRIGGERS}
  drop trigger if exists book_search_insert;
  drop trigger if exists book_search_update;
  drop trigger if exists book_search_delete;
  drop trigger if exists book_search_forget;
  create trigger book_history_insert after insert on books
  begin
    ${record('new', "'created'")};
  end;
  create trigger book_history_update after update on books
    when old.id <> new.id or coalesce(old.title, '') <> coalesce(new.title, '')
      or coalesce(old.author, '') <> coalesce(new.author, '') or coalesce(old.year, 0) <> coalesce(new.year, 0)
  begin
    ${record('old', "'deleted'")} where old.id <> new.id;
    ${record('new', "iif(old.id = new.id, 'updated', 'created')")};
  end;
  create trigger book_history_delete after delete on books
  begin
    ${record('old', "'deleted'")};
  end;
  insert into book_changes (id) values (0);
  update book_history set removed = (select seq from sqlite_sequence where name = 'book_changes');
`;

const STOP = `
  ${DROP_TRIGGERS}
  update book_history set days = null;
  ${CHANGE_LOG}
`;

/** A restored backup is another store: its next changes have the numbers of those after the backup. */
export const RENEW_LOG = 'update book_history set log = lower(hex(randomblob(8)))';

export const LAST_CHANGE =
  "select coalesce(max(seq), 0) as last from sqlite_sequence where name = 'book_changes'";

const selectOf = changeStatements(
  'book_changes',
  'type is not null',
  ['?1', '?2', '?3'],
  (changes, isRequested) => `
    select log, removed, days, last, last as newest, note, ${isRequested} as isRequested,
      type, at, id, title, author, year
    from book_history cross join (${LAST_CHANGE}) left join ${changes}
    order by number`,
);

/** Makes a function that reads changes, from a database that has a log when it is called. */
export function createChangeReader(database: DatabaseSync): (request: ChangeRequest) => ChangePage {
  const statements = new Map<string, StatementSync>();
  return (request) => {
    const sql = selectOf(request);
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    const rows: Iterable<unknown> = statement.iterate(...valuesOf(request));
    return toChangePage(rows as Iterable<ChangeRow>);
  };
}

/** Stores a book as it was when it was deleted. */
export const RESTORE = `
  insert into books (id, title, author, year)
  select id, title, author, year
  from (
    select * from book_changes
    where id = ? and type is not null and note > (select removed from book_history)
    order by note desc limit 1
  )
  where type = 'deleted'
  returning ${BOOK_COLUMNS}
`;

/** Moves the limit of what is kept; then what is below it can be deleted. */
export const REMOVE_OLD = `
  update book_history set removed = old.note
  from (
    select max(note) as note
    from (
      select note, at from book_changes where note > (select removed from book_history)
      order by note limit ${REMOVAL_MAX}
    )
    where at < (unixepoch() - (select days from book_history) * 86400) * 1000
  ) as old
  where old.note is not null
`;
export const DELETE_REMOVED = `
  delete from book_changes
  where note in (
    select note from book_changes
    where note <= (select removed from book_history) and (select days from book_history) is not null
    order by note limit ${REMOVAL_MAX}
  )
`;
