import { hash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { ID_MAX } from '../../book/book.ts';
import { hasTable } from './migrations.ts';

/**
 * The log of changes, in which triggers note what any program writes, in its transaction: the ids of the changed books for the
 * search index, or with a history the books themselves. The triggers must not fail, and have to be known to SQLite from 3.37 on, as
 * they run in the transactions of all programs.
 */

/** Of the ids, the latest are kept; a search index that is further behind is built anew. */
const IDS_MAX = 100_000;

/** The id of the rows of type `gap`: before each of them, changes may not have been recorded. */
export const GAP_ID = -ID_MAX;

/** The columns that a history adds to a log of ids, in this order. Rows of ids alone have no type. */
const BOOK_COLUMNS = {
  type: 'text',
  at: 'integer',
  title: 'text',
  author: 'text',
  year: 'integer',
  nonce: 'integer not null default 0',
};

const TABLE =
  'create table if not exists book_changes (note integer primary key autoincrement, id integer not null) strict';

/** One row. Followers get the changes after `removed`; without `days`, changes are not recorded. Version 0.1 reads `log`. */
const STATE_TABLE =
  'create table if not exists book_history (log text not null, removed integer not null, days integer) strict';
const STATE_COLUMNS = {
  removed_nonce: 'integer not null default 0',
  // The changes up to this one are in `book_changes_by_book`.
  indexed: 'integer not null default 0',
};

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

/** What records the books. A new id is a trigger of its own, so that other updates need not look for it. */
const RECORDERS: readonly Definition[] = [
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

/** The hash of those of version 0.1, which record all but the nonces. */
const RECORDERS_0_1 = 'ab47de9818fe2bbc9990d03fb462c7e0383cdf5183c48d6959cb70d042009b8b';

/** Whatever removes a change, followers that have not read it are told. */
const REMOVAL_TRIGGER: Definition = [
  'trigger',
  `book_history_removed after delete on book_changes when old.type is not null
  begin
    update book_history set removed = old.note, removed_nonce = old.nonce where removed < old.note;
    delete from book_changes_by_book where id = old.id and note = old.note;
  end`,
];

/** The changes of each book. Writes need not touch it: the history adds many changes at a time (see `INDEXED_MAX`). */
const INDEXES: readonly Definition[] = [
  [
    'table',
    'book_changes_by_book (id integer not null, note integer not null, primary key (id, note)) strict, without rowid',
  ],
  ['index', "book_changes_deleted on book_changes (type) where type = 'deleted'"],
];

const HISTORY = [...INDEXES, ...RECORDERS, REMOVAL_TRIGGER];

/** @param forgotten the condition on the rows that are removed */
const idTriggers = (forgotten: string): readonly Definition[] => [
  [
    'trigger',
    `book_search_insert after insert on books
    when new.id <= (select seq from sqlite_sequence where name = 'books')
  begin
    insert into book_changes (id) values (new.id);
  end`,
  ],
  [
    'trigger',
    `book_search_update after update on books
  begin
    insert into book_changes (id) values (old.id);
    insert into book_changes (id) select new.id where new.id <> old.id;
  end`,
  ],
  [
    'trigger',
    `book_search_delete after delete on books
  begin
    insert into book_changes (id) values (old.id);
  end`,
  ],
  [
    'trigger',
    `book_search_forget after insert on book_changes
  begin
    delete from book_changes where ${forgotten};
  end`,
  ],
];

const IDS = idTriggers(`note <= new.note - ${IDS_MAX}`);
/** In the log of a history that is off, the changes that were recorded stay. */
const IDS_BESIDE_CHANGES = idTriggers(`note = new.note - ${IDS_MAX} and type is null`);

/** Whether triggers write the log. */
export function hasChangeLog(database: DatabaseSync): boolean {
  return hasTable(database, 'book_search_forget') || hasTable(database, 'book_history_insert');
}

/** Creates what triggers need, in a write transaction, if it was dropped: no book can be written without it. */
export function completeChangeLog(database: DatabaseSync): void {
  if (RECORDERS.some(([, text]) => hasTable(database, nameOf(text)))) createTables(database);
  else if (IDS.some(([, text]) => hasTable(database, nameOf(text)))) database.exec(TABLE);
}

/** Begins to note the ids of changed books, in a write transaction, when there is no log yet. */
function noteIds(database: DatabaseSync): void {
  database.exec(TABLE);
  define(database, hasColumn(database, 'type') ? IDS_BESIDE_CHANGES : IDS);
}

/** The name of the file of the search index, and how many books and changes there were at each start of a process that writes. */
const READERS = `
  create table if not exists book_search_index (name text not null, version text not null) strict;
  create table if not exists book_search_starts (
    start integer primary key,
    token text not null default (hex(randomblob(8))),
    last_id integer,
    last_change integer not null
  ) strict;
`;

/** Another program may have set an id that is no exact number; it has no book. */
export const NEWEST_ID = `(select min(max(seq), ${ID_MAX}) from sqlite_sequence where name = 'books')`;
/** A statement that fails with `or fail` keeps its changes, but does not advance the sequence. */
export const NEWEST_CHANGE = `max(
  coalesce((select max(seq) from sqlite_sequence where name = 'book_changes'), 0),
  coalesce((select max(note) from book_changes), 0)
)`;

/** Records the start of a process that writes, for a search index that has to know whether the file was replaced; of the latest thousand. */
const RECORD_START = `
  insert into book_search_starts (last_id, last_change) values (${NEWEST_ID}, ${NEWEST_CHANGE});
  delete from book_search_starts where start <= (select max(start) from book_search_starts) - 1000;
`;

/** Records the start of a process that writes, in a write transaction, if there is a search index. */
export function recordStart(database: DatabaseSync): void {
  if (hasTable(database, 'book_search_starts')) database.exec(RECORD_START);
}

/** Begins a log that a new search index reads, in a write transaction; an earlier index is forgotten. */
export function beginForIndex(database: DatabaseSync): void {
  if (!hasChangeLog(database)) noteIds(database);
  database.exec(`${READERS} ${RECORD_START}`);
  forgetIndex(database);
}

/** A restored store gets a new search index: other programs may write before the next start is recorded. */
export function forgetIndex(database: DatabaseSync): void {
  if (hasTable(database, 'book_search_index')) database.exec('delete from book_search_index');
}

/**
 * Makes the log record the books, in a write transaction. If changes may have been missed, a gap is noted.
 *
 * @param days how long changes are kept
 */
export function recordBooks(database: DatabaseSync, days: number): void {
  const hasIds = IDS.every(([, text]) => hasTable(database, nameOf(text)));
  const isContinued = hasState(database) && hasAllRecorded(database);
  createTables(database);
  if (!hasState(database))
    database.exec('insert into book_history (log, removed) values (lower(hex(randomblob(8))), 0)');
  drop(database, IDS);
  if (!INDEXES.every((definition) => isDefined(database, definition))) {
    drop(database, INDEXES);
    database.exec('update book_history set indexed = 0');
  }
  define(database, HISTORY);
  if (!isContinued) {
    database.exec(`${DATE_IDS}; ${NOTE_GAP}`);
    // The index lacks the same changes.
    if (!hasIds) forgetIndex(database);
  }
  database.prepare('update book_history set days = ?').run(days);
}

/** Stops to record the books, in a write transaction; what was recorded stays. A search index needs the ids from now on. */
export function stopRecording(database: DatabaseSync): void {
  drop(database, RECORDERS);
  database.exec('update book_history set days = null');
  if (hasTable(database, 'book_search_index')) noteIds(database);
}

/** Whether the store records the books: `off` by the last start of a process, or `faulty`. */
type RecordingState = 'on' | 'off' | 'faulty';

/** Verifies the log each time that the schema has changed. */
export class RecordingVerifier {
  readonly #database: DatabaseSync;
  readonly #selectVersion: StatementSync;
  #version: unknown;
  #isDefined = false;
  #selectDays: StatementSync | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#selectVersion = database.prepare('pragma schema_version');
  }

  state(): RecordingState {
    const version = this.#selectVersion.get()?.schema_version;
    if (version !== this.#version) {
      this.#selectDays = hasTable(this.#database, 'book_history')
        ? this.#database.prepare('select days from book_history')
        : undefined;
      this.#isDefined = isRecording(this.#database);
      this.#version = version;
    }
    const row = this.#selectDays?.get();
    if (!row) return 'faulty';
    if (row.days === null) return 'off';
    return this.#isDefined ? 'on' : 'faulty';
  }
}

function isRecording(database: DatabaseSync): boolean {
  return (
    HISTORY.every((definition) => isDefined(database, definition)) &&
    !IDS.some(([, text]) => hasTable(database, nameOf(text))) &&
    hasColumns(database, 'book_changes', BOOK_COLUMNS) &&
    hasColumns(database, 'book_history', STATE_COLUMNS)
  );
}

/** Whether every change so far was recorded with its book, by this version or by 0.1, and none was removed unnoticed. */
function hasAllRecorded(database: DatabaseSync): boolean {
  const areOurs = [...RECORDERS, REMOVAL_TRIGGER].every((definition) => isDefined(database, definition));
  const names = ['book_history_delete', 'book_history_insert', 'book_history_update'];
  const texts = names.map((name) => sqlOf(database, name) ?? '').join('');
  const areOf01 = hash('sha256', texts) === RECORDERS_0_1 && hasTable(database, 'book_changes_by_book');
  return areOurs || (areOf01 && !hasTable(database, 'book_search_forget'));
}

/** Ids are kept like changes, as the search index may still need them. */
const DATE_IDS = `
  update book_changes set at = ${NOW_MS}
  where note > (select max(note) - ${IDS_MAX} from book_changes) and at is null
`;

/** The number of a gap is above all others that were ever given out, also if the table was dropped. */
const NOTE_GAP = `
  insert into book_changes (note, id, type, at, nonce)
  select 1 + max(
      coalesce((select max(note) from book_changes), 0),
      coalesce((select max(seq) from sqlite_sequence where name = 'book_changes'), 0),
      removed, indexed
    ), ${GAP_ID}, 'gap', ${NOW_MS}, ${NONCE}
  from book_history limit 1;
  update book_history set (removed, removed_nonce) = (select note, nonce from book_changes order by note desc limit 1);
`;

function createTables(database: DatabaseSync): void {
  database.exec(`${TABLE}; ${STATE_TABLE}`);
  addColumns(database, 'book_changes', BOOK_COLUMNS);
  addColumns(database, 'book_history', STATE_COLUMNS);
}

function hasState(database: DatabaseSync): boolean {
  return (
    hasTable(database, 'book_history') && database.prepare('select 1 from book_history').get() !== undefined
  );
}

/** Creates what is not defined like this. */
function define(database: DatabaseSync, definitions: readonly Definition[]): void {
  for (const definition of definitions) {
    if (isDefined(database, definition)) continue;
    drop(database, [definition]);
    database.exec(`create ${definition.join(' ')}`);
  }
}

/** Drops what has these names, of whatever kind it was in an earlier version. */
function drop(database: DatabaseSync, definitions: readonly Definition[]): void {
  const select = database.prepare('select type from sqlite_schema where name = ?');
  for (const [, text] of definitions) {
    const kind = select.get(nameOf(text))?.type as string | undefined;
    if (kind !== undefined) database.exec(`drop ${kind} ${nameOf(text)}`);
  }
}

function isDefined(database: DatabaseSync, [kind, text]: Definition): boolean {
  return sqlOf(database, nameOf(text)) === `CREATE ${kind.toUpperCase()} ${text}`;
}

function sqlOf(database: DatabaseSync, name: string): string | undefined {
  return database.prepare('select sql from sqlite_schema where name = ?').get(name)?.sql as
    | string
    | undefined;
}

function nameOf(text: string): string {
  return text.slice(0, text.indexOf(' '));
}

function addColumns(database: DatabaseSync, table: string, columns: Readonly<Record<string, string>>): void {
  for (const [name, type] of Object.entries(columns))
    if (!hasColumn(database, name, table)) database.exec(`alter table ${table} add column ${name} ${type}`);
}

function hasColumns(database: DatabaseSync, table: string, columns: object): boolean {
  return Object.keys(columns).every((name) => hasColumn(database, name, table));
}

function hasColumn(database: DatabaseSync, name: string, table = 'book_changes'): boolean {
  return database.prepare('select 1 from pragma_table_info(?) where name = ?').get(table, name) !== undefined;
}
