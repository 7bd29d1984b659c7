import type { DatabaseSync } from 'node:sqlite';
import type { BookPage } from '../../book/book-store.ts';
import { type PageRequest, type PageRow, toPage } from '../page.ts';
import { toUtf8 } from './book-statement.ts';
import { hasOwnTable } from './schema.ts';
import { SELECT_OWN_PAGE, SELECT_PAGE } from './sql.ts';

/** A function that reads pages on a connection. */
export function preparePages(database: DatabaseSync): (request: PageRequest) => BookPage {
  const select = database.prepare(hasOwnTable(database) ? SELECT_OWN_PAGE : SELECT_PAGE);
  return ({ after, limit }) => {
    const row = select.get({ after, limit }) as unknown as PageRow;
    return toPage({ ...row, json: row.json && toUtf8(row.json) });
  };
}
