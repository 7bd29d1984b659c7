import type { DatabaseSync } from 'node:sqlite';
import { ID_MAX, YEAR_MAX } from '../../book/book.ts';
import { StoreNotReady } from '../store-errors.ts';
import { hasTable, migrate, readVersion } from './migrations.ts';

/** Prepares the storage structure in a write transaction; an adopted table of books stays as it is. */
export function prepareSchema(database: DatabaseSync): void {
  migrate(database);
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
  readVersion(database);
  if (hasTable(database, 'books')) expectBooks(database);
}

/**
 * A table that somebody else made may lack what ours enforces, so its shape and rows are looked at.
 *
 * @throws StoreNotReady when it does not fit
 */
export function expectBooks(database: DatabaseSync): void {
  readVersion(database);
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
