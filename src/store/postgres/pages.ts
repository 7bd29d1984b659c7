import type { BookPage } from '../../book/book-store.ts';
import { toPage } from '../page.ts';
import type { Statement } from './sql.ts';

/** A row of `SELECT_PAGE`: the columns are null when there are no books. */
export interface ColumnsRow {
  readonly more: boolean;
  readonly last: number | null;
  readonly ids: readonly number[] | null;
  titles: readonly string[] | null;
  authors: readonly string[] | null;
  readonly years: readonly number[] | null;
}

export type Query = <Row extends object>(statement: Statement, values: unknown[]) => Promise<Row[]>;

export function renderPage(row: ColumnsRow): BookPage {
  const { more, last, ids, titles, authors, years } = row;
  // The results of a list reference each other until a full garbage collection: 50 MB if they keep their texts.
  Object.assign(row, { titles: null, authors: null });
  const books = ids?.map((id, index) => ({
    id,
    title: titles?.[index],
    author: authors?.[index],
    year: years?.[index],
  }));
  const json = books ? Buffer.from(JSON.stringify(books)).subarray(1, -1) : null;
  return toPage({ last, more, json });
}
