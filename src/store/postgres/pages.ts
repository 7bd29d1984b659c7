import type { BookPage } from '../../book/book-store.ts';
import { toPage } from '../page.ts';
import type { Statement } from './sql.ts';

/** The row of `SELECT_PAGE`: the columns are null when there are no books. */
export interface ColumnsRow {
  readonly count: number;
  readonly last: number | null;
  readonly ids: readonly number[] | null;
  titles: readonly string[] | null;
  authors: readonly string[] | null;
  readonly years: readonly number[] | null;
}

export type Query = <Row extends object>(statement: Statement, values: unknown[]) => Promise<Row[]>;

/** Renders a page of at most `limit` books. */
export function renderPage([row]: readonly ColumnsRow[], limit: number): BookPage {
  if (!row) throw new Error('a page without a row');
  const { count, last, ids, titles, authors, years } = row;
  // The results of a list reference each other until a full garbage collection: 50 MB if they keep their texts.
  Object.assign(row, { titles: null, authors: null });
  const books = ids?.map((id, index) => ({
    id,
    title: titles?.[index],
    author: authors?.[index],
    year: years?.[index],
  }));
  const json = books ? Buffer.from(JSON.stringify(books)).subarray(1, -1) : null;
  return toPage({ count, last, json }, limit);
}
