import type { DatabaseSync } from 'node:sqlite';
import type { BookPage } from '../../book/book-store.ts';
import { type PageRequest, type PageRow, toPage } from '../page.ts';
import { toUtf8 } from './book-statement.ts';
import { SELECT_PAGE, SELECT_STRICT_PAGE } from './sql.ts';

/** A function that reads pages on a connection. */
export function preparePages(database: DatabaseSync): (request: PageRequest) => BookPage {
  const isStrict = database.prepare("select 1 from pragma_table_list('books') where strict").get();
  const select = database.prepare(isStrict ? SELECT_STRICT_PAGE : SELECT_PAGE);
  return ({ after, limit }) => {
    const row = select.get({ after, limit }) as unknown as PageRow;
    return toPage({ ...row, json: row.json && toUtf8(row.json) });
  };
}
