import type { ListPage } from '../../book/book-store.ts';
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

/** Makes the page of a row: of its first books, if JSON escapes so much of their texts that they have more bytes. */
export function renderPage(row: ColumnsRow, bytes: number): ListPage {
  const { titles, authors, years } = row;
  const ids = row.ids ?? [];
  // The results of a list reference each other until a full garbage collection: 50 MB if they keep their texts.
  Object.assign(row, { titles: null, authors: null });
  const books = ids.map((id, index) => ({
    id,
    title: titles?.[index],
    author: authors?.[index],
    year: years?.[index],
  }));
  const json = toJson(books);
  if (json.length <= bytes) return toPage({ ...row, json: books.length > 0 ? json : null });
  const first = books.slice(0, countFitting(books, bytes));
  return toPage({
    last: first.at(-1)?.id ?? null,
    more: row.more || first.length < books.length,
    json: toJson(first),
  });
}

function toJson(books: readonly object[]): Uint8Array {
  return Buffer.from(JSON.stringify(books)).subarray(1, -1);
}

/** The number of books whose JSON has so many bytes, at least one. */
function countFitting(books: readonly object[], bytes: number): number {
  let length = -1;
  const end = books.findIndex((book, index) => {
    length += toJson([book]).length + 1;
    return index > 0 && length > bytes;
  });
  return end === -1 ? books.length : end;
}
