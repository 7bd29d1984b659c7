import type { DatabaseSync } from 'node:sqlite';
import type { ListPage } from '../../book/book-store.ts';
import type { FieldName } from '../../book/contract.ts';
import { type PageRequest, type PageRow, toPage } from '../page.ts';
import { COMMA, fieldOf, HAS_EXACT_ID, joinBooks, jsonOf, toUtf8 } from './book-columns.ts';
import { hasOwnTable } from './books-table.ts';
import { isTooLong } from './errors.ts';

/** The statements of a page: with all its books in a row, and with each in a row. */
const pageOf = (valueOfField: (name: FieldName) => string, condition: string) => {
  // SQLite prepares a statement anew for each value of a bare parameter as the limit.
  const next = `from books where id > :after and ${condition} order by id limit 0 + :limit`;
  const json = jsonOf(valueOfField);
  return {
    whole: `
      select last, json, exists (select 1 from books where id > last and ${condition}) as more
      from (
        select max(id) as last, cast(group_concat(json, ',') as blob) as json from (select id, ${json} as json ${next})
      )
    `,
    books: `select id, cast(${json} as blob) as json ${next}`,
  };
};
/** A page of a table that another program has created. */
export const PAGE = pageOf(fieldOf, HAS_EXACT_ID);
/** The constraints of the service's own table keep its rows valid: a list takes a fifth less of the time. */
const OWN_PAGE = pageOf((name) => name, 'true');

/** A function that reads pages on a connection. */
export function preparePages(database: DatabaseSync): (request: PageRequest) => ListPage {
  const statements = hasOwnTable(database) ? OWN_PAGE : PAGE;
  const select = database.prepare(statements.whole);
  const selectBooks = database.prepare(statements.books);
  selectBooks.setReturnArrays(true);
  const { length: lengthMax } = database.limits;
  /** Whether the last page was full before it had all books: then the next one probably is, too, and not tried as a whole. */
  let isFull = false;

  /** A whole page in one row, unless it has more bytes: then SQLite stops. */
  const readWhole = ({ after, books, bytes }: PageRequest): PageRow | undefined => {
    database.limits.length = bytes;
    try {
      return select.get({ after, limit: books }) as unknown as PageRow;
    } catch (error) {
      if (isTooLong(error)) return undefined;
      throw error;
    } finally {
      database.limits.length = lengthMax;
    }
  };

  /** Reads books, each in a row, which takes longer, until the next one does not fit. */
  const readUntilFull = ({ after, books, bytes }: PageRequest): PageRow => {
    const parts: Uint8Array[] = [];
    let length = -COMMA.length;
    let last: number | null = null;
    for (const row of selectBooks.iterate({ after, limit: books + 1 })) {
      const [id, json] = row as unknown as [number, Uint8Array];
      length += COMMA.length + json.length;
      isFull = parts.length > 0 && length > bytes;
      if (isFull || parts.length === books) return { last, more: true, json: joinBooks(parts) };
      parts.push(json);
      last = id;
    }
    return { last, more: false, json: joinBooks(parts) };
  };

  return (request) => {
    const row = (isFull ? undefined : readWhole(request)) ?? readUntilFull(request);
    return toPage({ ...row, json: row.json && toUtf8(row.json) });
  };
}
