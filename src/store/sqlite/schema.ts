import type { DatabaseSync } from 'node:sqlite';
import { ID_MAX, YEAR_MAX } from '../../book/book.ts';
import { StoreNotReady } from '../store-errors.ts';

/**
 * Prepares the storage structure: creates the table of books unless there is one, and a table for the keys of creates
 * (times in seconds since 1970). Safe when several processes do it at once.
 */
export function prepareSchema(database: DatabaseSync): void {
  // AUTOINCREMENT: otherwise the highest id is given out again after its book was deleted.
  database.exec(`
    create table if not exists books (
      id integer primary key autoincrement check (id between 1 and ${ID_MAX}),
      title text not null,
      author text not null,
      year integer not null check (year between -${YEAR_MAX} and ${YEAR_MAX})
    ) strict
  `);
  database.exec(`
    create table if not exists idempotency_keys (
      key text primary key,
      fingerprint text not null,
      book_id integer not null,
      created_at integer not null
    ) strict, without rowid;
    create index if not exists idempotency_keys_by_age on idempotency_keys (created_at)
  `);
  if (isOurs(database)) return;
  // A trigger of this connection alone keeps ids exact without a change to the table.
  database.exec(`
    create temp trigger books_id_exact after insert on main.books when new.id > ${ID_MAX}
    begin
      select raise(abort, 'the id is not exact');
    end
  `);
}

/** Whether the table of books enforces what a book is. */
function isOurs(database: DatabaseSync): boolean {
  return database.prepare(`select 1 from pragma_table_list('books') where strict = 1`).get() !== undefined;
}

/** Like {@link expectBooks}, but no table is fine, too. @throws StoreNotReady when there is one that does not fit */
export function expectNoMisfit(database: DatabaseSync): void {
  if (hasBooks(database)) expectBooks(database);
}

/** Whether there is a table of books, whatever its form. */
export function hasBooks(database: DatabaseSync): boolean {
  return database.prepare(`select 1 from sqlite_schema where name = 'books'`).get() !== undefined;
}

/**
 * A table that somebody else made may lack what ours enforces, so its shape and rows are looked at.
 *
 * @throws StoreNotReady when it does not fit
 */
export function expectBooks(database: DatabaseSync): void {
  if (isOurs(database)) return;
  const columns = database.prepare(`select name from pragma_table_info('books')`).all();
  if (columns.length === 0) throw new StoreNotReady('there is no table books');
  for (const name of ['id', 'title', 'author', 'year']) {
    if (!columns.some((column) => column.name === name)) {
      throw new StoreNotReady(`the table books has no column ${name}`);
    }
  }
  const source = database.prepare(`select sql from sqlite_schema where name = 'books'`).get();
  if (!/\bautoincrement\b/i.test(String(source?.sql))) {
    throw new StoreNotReady(
      'the id of the table books is not AUTOINCREMENT, so ids could be given out twice',
    );
  }
  const invalidRow = database
    .prepare(`
      select 1 from books
      where id not between -${ID_MAX} and ${ID_MAX}
        or typeof(title) not in ('text', 'null')
        or typeof(author) not in ('text', 'null')
        or typeof(year) not in ('integer', 'null')
        or year not between -${YEAR_MAX} and ${YEAR_MAX}
      limit 1
    `)
    .get();
  if (invalidRow)
    throw new StoreNotReady(
      'the table books has a row that is no book, or whose id or year is beyond ±(2^53-1)',
    );
}
