import type { DatabaseSync } from 'node:sqlite';
import { PAGE_TEXT_BYTES_MAX, type PageRequest, type PageRow } from '../page.ts';
import { isTooBig } from './errors.ts';
import { SELECT_PAGE } from './sql.ts';

/** A function that reads pages on a connection. SQLite itself ends the rendering of one that becomes too long. */
export function preparePages(database: DatabaseSync): (request: PageRequest) => PageRow {
  const select = database.prepare(SELECT_PAGE);
  const { length } = database.limits;
  return ({ after, limit }) => {
    if (limit > 1) database.limits.length = PAGE_TEXT_BYTES_MAX;
    try {
      return select.get({ after, limit }) as unknown as PageRow;
    } catch (error) {
      if (limit > 1 && isTooBig(error)) return { count: limit, last: after, json: null };
      throw error;
    } finally {
      database.limits.length = length;
    }
  };
}
