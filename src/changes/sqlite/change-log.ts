import type { DatabaseSync } from 'node:sqlite';
import { ID_MAX } from '../../book/book.ts';
import { findInSchema, isInSchema } from '../../store/sqlite/migrations.ts';
import type { LogPlace, LogPosition } from '../log-position.ts';

/**
 * The log of changes, in which triggers note what any program writes, in its transaction. It has two modes: with a history it has
 * the books themselves, otherwise only their ids, for the search index. Both follow it by the rule of log-position.ts. The triggers must
 * not fail, and have to be known to SQLite from 3.37 on, as they run in the transactions of all programs.
 */

/** Of the ids, the latest are kept, and up to a thousand more; a search index that is further behind is built anew. */
const IDS_MAX = 100_000;
const FORGOTTEN_AT_ONCE = 1_000;

/** The id of the rows of type `gap`: before each of them, changes may not have been recorded. */
export const GAP_ID = -ID_MAX;

const NOW_MS = "cast(round((julianday('now') - 2440587.5) * 86400000) as integer)";
const NONCE = `random() & ${Number.MAX_SAFE_INTEGER}`;

const COLUMNS = '(id, type, at, title, author, year, nonce)';
const valuesOf = (row: 'old' | 'books', type: string) =>
  `${row}.id, '${type}', ${NOW_MS}, cast(coalesce(${row}.title, '') as text),
      cast(coalesce(${row}.author, '') as text), cast(coalesce(${row}.year, 0) as integer), ${NONCE}`;

/**
 * These record what the book is when they run. For example, another trigger on inserts that changes each new title to capitals may
 * run first: its update is recorded before the insert, which must not record the former title.
 */
const recordNew = (type: string) => `
    insert into book_changes ${COLUMNS} select ${valuesOf('books', type)} from books where id = new.id;`;
const RECORD_DELETED = `
    insert into book_changes ${COLUMNS} select ${valuesOf('old', 'deleted')}
    where not exists (select 1 from books where id = old.id);`;

/** The text of a statement behind `create`: SQLite keeps it as it is from the name on. */
type Definition = readonly [kind: 'table' | 'index' | 'trigger', text: string];

/** Rows of ids alone have no type. The one row of the state: followers get the changes after `removed`; without `days`, it has ids. */
const TABLES: readonly Definition[] = [
  [
    'table',
    `book_changes (
    note integer primary key autoincrement,
    id integer not null,
    nonce integer not null,
    type text,
    at integer,
    title text,
    author text,
    year integer
  ) strict`,
  ],
  [
    'table',
    `book_history (
    removed integer not null,
    removed_nonce integer not null,
    days integer,
    indexed integer not null default 0
  ) strict`,
  ],
  // The changes up to `indexed`, in steps: with an index that each commit maintains, PUT at 32 connections has 0.74 of the rate, DELETE 0.86.
  [
    'table',
    'book_changes_by_book (id integer not null, note integer not null, primary key (id, note)) strict, without rowid',
  ],
];

/** In both modes: whatever removes a change, followers that have not read it are told. */
const COMMON: readonly Definition[] = [
  [
    'trigger',
    `book_history_removed after delete on book_changes
  begin
    update book_history set removed = old.note, removed_nonce = old.nonce where removed < old.note;
    delete from book_changes_by_book where id = old.id and note = old.note;
  end`,
  ],
  ['index', "book_changes_deleted on book_changes (type) where type = 'deleted'"],
];

/** What records the books. A new id is a trigger of its own, so that other updates need not look for it. */
const BOOKS: readonly Definition[] = [
  ['trigger', `book_history_insert after insert on books begin ${recordNew('created')} end`],
  [
    'trigger',
    `book_history_update after update on books
    when old.id = new.id and (coalesce(old.title, '') <> coalesce(new.title, '')
      or coalesce(old.author, '') <> coalesce(new.author, '') or coalesce(old.year, 0) <> coalesce(new.year, 0))
    begin ${recordNew('updated')} end`,
  ],
  [
    'trigger',
    `book_history_move after update of id on books when old.id <> new.id
    begin ${RECORD_DELETED} ${recordNew('created')} end`,
  ],
  ['trigger', `book_history_delete after delete on books begin ${RECORD_DELETED} end`],
];

const NOTE_ID = 'insert into book_changes (id, nonce) select';

/** What notes ids. Changes that a history has recorded before stay. */
const IDS: readonly Definition[] = [
  ['trigger', `book_ids_insert after insert on books begin ${NOTE_ID} new.id, ${NONCE}; end`],
  [
    'trigger',
    `book_ids_update after update on books
    begin ${NOTE_ID} old.id, ${NONCE}; ${NOTE_ID} new.id, ${NONCE} where new.id <> old.id; end`,
  ],
  ['trigger', `book_ids_delete after delete on books begin ${NOTE_ID} old.id, ${NONCE}; end`],
  [
    'trigger',
    `book_ids_forget after insert on book_changes when new.note % ${FORGOTTEN_AT_ONCE} = 0
  begin
    delete from book_changes
    where note > new.note - ${IDS_MAX + 2 * FORGOTTEN_AT_ONCE} and note <= new.note - ${IDS_MAX} and type is null;
  end`,
  ],
];

/** Whether there is a log, or a part of it. */
export function hasChangeLog(database: DatabaseSync): boolean {
  return [...TABLES, ...BOOKS, ...IDS].map(nameOf).some((name) => isInSchema(database, name));
}

/**
 * Makes the log record the books, or else the ids, in a write transaction. What was recorded stays. If it was not defined exactly
 * so, changes may have been missed, and a gap is noted.
 *
 * @param days how long changes are kept; undefined for the ids
 */
export function defineChangeLog(database: DatabaseSync, days: number | undefined): void {
  const [definitions, others] = days === undefined ? [IDS, BOOKS] : [BOOKS, IDS];
  const isContinued =
    [...TABLES, ...COMMON, ...definitions].every((definition) => isDefined(database, definition)) &&
    others.map(nameOf).every((name) => !isInSchema(database, name)) &&
    database.prepare('select 1 from book_history').get() !== undefined;
  if (!isContinued) {
    drop(database, [...COMMON, ...definitions, ...others]);
    const tables = TABLES.filter((table) => !isDefined(database, table));
    drop(database, tables);
    for (const definition of [...tables, ...COMMON, ...definitions])
      database.exec(`create ${definition.join(' ')}`);
    database.exec(RESET);
    database.exec(NOTE_GAP);
  }
  database.prepare('update book_history set days = ?').run(days ?? null);
}

const RESET = `
  insert into book_history (removed, removed_nonce) select 0, 0 where not exists (select 1 from book_history);
  delete from book_changes_by_book;
  update book_history set indexed = 0;
`;

/** The number of a gap is above all others that were ever given out, also if the table was dropped. */
const NOTE_GAP = `
  insert into book_changes (note, id, type, at, nonce)
  select 1 + max(
      coalesce((select max(note) from book_changes), 0),
      coalesce((select max(seq) from sqlite_sequence where name = 'book_changes'), 0),
      removed
    ), ${GAP_ID}, 'gap', ${NOW_MS}, ${NONCE}
  from book_history limit 1;
  update book_history set (removed, removed_nonce) = (select note, nonce from book_changes order by note desc limit 1);
`;

/** The place after the last change, or after what was removed. */
export const SELECT_LAST = `
  select * from (select note as position, nonce from book_changes order by note desc limit 1)
  union all select removed, removed_nonce from book_history order by 1 desc limit 1
`;

/** A row for {@link toPlace}. @param position the position of a follower as SQL */
export function selectPlace(position: string): string {
  return `
    select removed, removed_nonce as removedNonce, days,
      (select nonce from book_changes where note = ${position}) as nonce
    from book_history`;
}

export interface PlaceRow {
  readonly removed: number;
  readonly removedNonce: number;
  readonly days: number | null;
  readonly nonce: number | null;
}

export function toPlace({ removed, removedNonce, nonce }: PlaceRow): LogPlace {
  const start: LogPosition = { position: removed, nonce: removedNonce };
  return { start, nonce: nonce ?? undefined };
}

/** Drops what has these names, of whatever kind it is. */
function drop(database: DatabaseSync, definitions: readonly Definition[]): void {
  for (const name of definitions.map(nameOf)) {
    const { type } = findInSchema(database, name) ?? {};
    if (type !== undefined) database.exec(`drop ${type} ${name}`);
  }
}

function isDefined(database: DatabaseSync, definition: Definition): boolean {
  const [kind, text] = definition;
  return findInSchema(database, nameOf(definition))?.sql === `CREATE ${kind.toUpperCase()} ${text}`;
}

function nameOf([, text]: Definition): string {
  return text.slice(0, text.indexOf(' '));
}
