import type { Book } from '../../book/book.ts';
import { PAGE_TEXT_BYTES_MAX, type PageRow } from '../page.ts';
import { SELECT, type Statement } from './sql.ts';

/** The row of `SELECT_PAGE`: the columns are null when there are no books, and texts are null when they are long. */
export interface ColumnsRow {
  readonly count: number;
  readonly last: number;
  /** Of all texts. */
  readonly bytes: number;
  readonly ids: readonly number[] | null;
  titles: readonly (string | null)[] | null;
  authors: readonly (string | null)[] | null;
  readonly years: readonly number[] | null;
}

export type Query = <Row extends object>(statement: Statement, values: unknown[]) => Promise<Row[]>;

/** Renders a page of at most `limit` books, after it has read the long texts, unless they are too long for one page. */
export async function renderPage(
  [row]: readonly ColumnsRow[],
  limit: number,
  query: Query,
): Promise<PageRow> {
  if (!row) throw new Error('a page without a row');
  const { count, last, bytes, ids, titles, authors, years } = row;
  // The results of a list reference each other until a full garbage collection: 50 MB if they keep their texts.
  Object.assign(row, { titles: null, authors: null });
  if (bytes > PAGE_TEXT_BYTES_MAX && limit > 1) return { count, last, json: null };
  const books = (ids ?? []).map((id, index) => ({
    id,
    title: titles?.[index] ?? null,
    author: authors?.[index] ?? null,
    year: years?.[index],
  }));
  const filled = (await readLongTexts(books, query)).filter(({ title }) => title !== null);
  return { count, last, json: Buffer.from(JSON.stringify(filled)).subarray(1, -1) };
}

/** Completes books whose texts are long, except those that no longer exist. */
export async function readLongTexts<Row extends Pick<Book, 'id'> & { readonly title: string | null }>(
  books: readonly Row[],
  query: Query,
): Promise<readonly Row[]> {
  const long = books.filter(({ title }) => title === null).map(({ id }) => id);
  if (long.length === 0) return books;
  const rows = await query<Book>(SELECT, [long]);
  const texts = new Map(rows.map(({ id, title, author }) => [id, { title, author }]));
  return books.map((book) => ({ ...book, ...texts.get(book.id) }));
}
