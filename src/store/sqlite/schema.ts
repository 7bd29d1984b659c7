import type { DatabaseSync } from 'node:sqlite';
import { ID_MAX, YEAR_MAX } from '../../book/book.ts';
import { StoreNotReady } from '../errors.ts';
import { dropBrokenChangeLog } from './change-log.ts';
import { isInSchema, migrate, readVersion } from './migrations.ts';

/** Prepares the schema in a write transaction; an adopted table of books remains unchanged. */
export function prepareSchema(database: DatabaseSync): void {
  migrate(database);
  dropBrokenChangeLog(database);
  if (hasOwnTable(database)) return;
  // A temporary trigger keeps ids exact without a change to the table.
  database.exec(`
    create temp trigger books_id_exact after insert on main.books when new.id > ${ID_MAX}
    begin
      select raise(abort, 'the id is not exact');
    end
  `);
}

/** Whether the service created the table of books; its constraints then keep the rows valid. */
export function hasOwnTable(database: DatabaseSync): boolean {
  return database.prepare(`select 1 from pragma_table_list('books') where strict = 1`).get() !== undefined;
}

export function expectBooksIfAny(database: DatabaseSync): void {
  readVersion(database);
  if (isInSchema(database, 'books')) expectBooks(database);
}

/** @throws StoreNotReady when there is no table of books, or another program created it and it or a row is invalid */
export function expectBooks(database: DatabaseSync): void {
  readVersion(database);
  if (hasOwnTable(database)) return;
  const columns = database.prepare(`select name from pragma_table_info('books')`).all();
  if (columns.length === 0) throw new StoreNotReady('there is no table books');
  for (const name of ['id', 'title', 'author', 'year']) {
    if (!columns.some((column) => column.name === name)) {
      throw new StoreNotReady(`the table books has no column ${name}`);
    }
  }
  const source = database.prepare(`select sql from sqlite_schema where name = 'books'`).get();
  if (!/\bautoincrement\b/i.test(String(source?.sql))) {
    throw new StoreNotReady('the id of the table books is not AUTOINCREMENT, so ids could be reused');
  }
  const invalidRows = database.prepare(`
    select 1 from books
    where id not between -${ID_MAX} and ${ID_MAX}
      or typeof(title) not in ('text', 'null')
      or typeof(author) not in ('text', 'null')
      or typeof(year) not in ('integer', 'null')
      or year not between -${YEAR_MAX} and ${YEAR_MAX}
  `);
  if (invalidRows.get())
    throw new StoreNotReady('the table books has an invalid row, or an id or year beyond ±(2^53-1)');
}
