import type { Book, BookFields } from '../../../book/book.ts';

/**
 * The most books in a batch whose length only the store knows: each may have 2 MiB as text, and one statement returns
 * all of them.
 */
export const UNKNOWN_LENGTHS_MAX = 32;

/** The first of some updates, so that at most {@link UNKNOWN_LENGTHS_MAX} of them keep a stored text. */
export function limitUnknownLengths<Update extends { readonly changes: Partial<BookFields> }>(
  updates: readonly Update[],
): readonly Update[] {
  let unknown = 0;
  const end = updates.findIndex(
    ({ changes: { title, author } }) =>
      (title === undefined || author === undefined) && ++unknown > UNKNOWN_LENGTHS_MAX,
  );
  return end === -1 ? updates : updates.slice(0, end);
}

/** The fields of books as arrays, one for each column; what is absent is null. */
export function columnsOf(books: readonly Partial<BookFields>[]): unknown[] {
  return [
    books.map(({ title = null }) => title),
    books.map(({ author = null }) => author),
    books.map(({ year = null }) => year),
  ];
}

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
