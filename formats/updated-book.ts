import { changesOf, findLongText } from '../src/book/book.ts';
import type { Book, BookFields } from '../src/book/contract.ts';
import type { BookRow, ImportedBook } from './book-row.ts';
import type { Mapping } from './mapping.ts';
import { FIELDS, type Field, type RowError } from './row.ts';

/**
 * What a row with the id of a stored book makes of it. An empty cell empties the field; a field without a column, or without a member in
 * the JSON object of the row, stays as it is stored, as does a year where that of the row cannot be read.
 */
export function updatedBook(
  stored: Book,
  { book, absent = [], isYearUnread }: Extract<BookRow, { readonly book: ImportedBook }>,
  mapping: Mapping,
): Book {
  const fields = FIELDS.filter(
    (field) => mapping[field] !== undefined && !absent.includes(field) && !(field === 'year' && isYearUnread),
  );
  return { ...stored, ...Object.fromEntries(fields.map((field) => [field, book[field]])) };
}

/** Why a stored book cannot be changed in this way: a new text is too long. Stored ones may be longer. */
export function findUpdateError(before: Book, after: Book): RowError | undefined {
  const field = findLongText(changesOf(before, after));
  return field && { kind: 'text-too-long', field };
}

/**
 * Whether the ids of a file are those of the store: at least half of the books that have them keep the title or the author.
 *
 * @param changes what rows change of the books
 * @param others the number of the other rows that have an id of a book, which change nothing
 */
export function areIdsOfStore(
  changes: readonly { readonly before: Book; readonly after: Book }[],
  others: number,
): boolean {
  const similar = changes.filter(
    ({ before, after }) => before.title === after.title || before.author === after.author,
  );
  return similar.length + others >= changes.length - similar.length;
}

/** The fields that differ, in the order of the columns. */
export function changedFields(before: BookFields, after: BookFields): readonly Field[] {
  return FIELDS.filter((field) => before[field] !== after[field]);
}
