import { type BookFields, FIELD_NAMES, ID_MAX, YEAR_MAX } from '../../book/book.ts';

/** The columns of a book, which the statements of the store, of searches and of the history share, and the books of rows. */

/**
 * The number that the service has for one that another program has stored while it ran (the honest accident): within the range
 * that a JSON number has exactly. The start refuses a table with others.
 */
export const exact = (column: string) => `greatest(least(coalesce(${column}, 0), ${YEAR_MAX}), -${YEAR_MAX})`;

/** Other ids have no book: two of them could be the same number. */
export const HAS_EXACT_ID = `id between -${ID_MAX} and ${ID_MAX}`;

/** Adopted tables may contain NULL, which is read as empty. */
export const BOOK_COLUMNS = `books.id, coalesce(books.title, '') as title, coalesce(books.author, '') as author, ${exact('books.year')} as year`;

/** The length of a book, without reading its texts. */
export const TEXT_BYTES = 'coalesce(octet_length(title), 0) + coalesce(octet_length(author), 0)';

/** The fields of books as arrays, one for each column; an absent field is null. */
export function toColumns(books: readonly Partial<BookFields>[]): unknown[][] {
  return FIELD_NAMES.map((name) => books.map((book) => book[name] ?? null));
}

export function idsOf<Id>(rows: readonly { readonly id: Id }[]): Id[] {
  return rows.map(({ id }) => id);
}

/** The rows in the order of the ids; undefined where an id has none. */
export function matchIds<Row extends { readonly id: number }>(
  ids: readonly number[],
  rows: readonly Row[],
): (Row | undefined)[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}
