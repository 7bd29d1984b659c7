import type { Book, BookFields } from '../../book.ts';

/** The rows in the order of the ids they were asked by. */
export function matchIds<Row extends { readonly id: number }>(
  ids: readonly number[],
  rows: readonly Row[],
): (Row | undefined)[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}

/**
 * The rows in the order of the books they were made from. PostgreSQL returns them so, but nothing promises it, and
 * other engines do not; so a row out of place goes to a caller who asked for the like of it.
 */
export function matchCreated(books: readonly BookFields[], rows: readonly Book[]): Book[] {
  if (books.every((book, index) => isSame(book, rows[index]))) return [...rows];

  const unclaimed = Map.groupBy(rows, ({ title, author, year }) => JSON.stringify([title, author, year]));
  return books.map(({ title, author, year }) => {
    const row = unclaimed.get(JSON.stringify([title, author, year]))?.pop();
    if (!row) throw new Error('a created book was not returned');
    return row;
  });
}

function isSame(book: BookFields, row: Book | undefined): boolean {
  return (
    row !== undefined && row.title === book.title && row.author === book.author && row.year === book.year
  );
}
