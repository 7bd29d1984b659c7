import { ID_MAX } from '../../book/book.ts';

/**
 * The tables and triggers of the log of changes: `book_changes` is the log, and `book_history` its state. The `note` of a change is its
 * position. The triggers must not fail, and have to be known to SQLite from 3.37 on, as they run in the transactions of all programs.
 */

/** Of the ids, the latest are kept, and up to a thousand more; a search index that is further behind is built anew. */
const IDS_MAX = 100_000;
const FORGOTTEN_AT_ONCE = 1_000;

/**
 * The id of the rows of type `gap`: before each of them, changes may not have been recorded. Logs have it, so it stays, though that of
 * PostgreSQL is one less: with another one, the history of a book would no longer show the gaps that are in a log.
 */
export const GAP_ID = -ID_MAX;

export const NOW_MS = "cast(round((julianday('now') - 2440587.5) * 86400000) as integer)";
export const NONCE = `random() & ${Number.MAX_SAFE_INTEGER}`;

const CHANGE_COLUMNS = '(id, type, at, title, author, year, nonce)';
const valuesOf = (row: 'old' | 'books', type: string) =>
  `${row}.id, '${type}', ${NOW_MS}, cast(coalesce(${row}.title, '') as text),
      cast(coalesce(${row}.author, '') as text), cast(coalesce(${row}.year, 0) as integer), ${NONCE}`;

/**
 * These record what the book is when they run. For example, another trigger on inserts that changes each new title to capitals may
 * run first: its update is recorded before the insert, which must not record the former title.
 */
const recordNew = (type: string) => `
    insert into book_changes ${CHANGE_COLUMNS} select ${valuesOf('books', type)} from books where id = new.id;`;
const RECORD_DELETED = `
    insert into book_changes ${CHANGE_COLUMNS} select ${valuesOf('old', 'deleted')}
    where not exists (select 1 from books where id = old.id);`;

/** The text of a statement behind `create`: SQLite keeps it as it is from the name on. */
export type Definition = readonly [kind: 'table' | 'index' | 'trigger', text: string];

export const TABLES: readonly Definition[] = [
  // The log. With a history, a row has the book; without one, when only the search follows it, the id alone and no type.
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
  // The state, in one row. Followers get the changes after `removed`. With a history, `days` is how long they are kept; without one, null.
  [
    'table',
    `book_history (
    removed integer not null,
    removed_nonce integer not null,
    days integer,
    indexed integer not null default 0
  ) strict`,
  ],
  // The changes of each book, up to `indexed`; appended in steps: with an index that each commit maintains, PUT at 32 connections has
  // 0.74 of the rate, DELETE 0.86.
  [
    'table',
    'book_changes_by_book (id integer not null, note integer not null, primary key (id, note)) strict, without rowid',
  ],
];

/** In both modes: whatever removes a change, followers that have not read it get 410. */
export const COMMON: readonly Definition[] = [
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
export const BOOKS: readonly Definition[] = [
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
export const IDS: readonly Definition[] = [
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

export function nameOf([, text]: Definition): string {
  return text.slice(0, text.indexOf(' '));
}
