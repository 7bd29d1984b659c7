import { changesOf } from '../src/book/book.ts';
import { type Book, type BookFields, findLongText } from '../src/book/contract.ts';
import type { BookRow, ImportedBook } from './book-row.ts';
import type { Mapping } from './mapping.ts';
import { FIELDS, type Field, type RowError } from './row.ts';

type GoodRow = Extract<BookRow, { readonly book: ImportedBook }>;

/**
 * What a row with the id of a stored book makes of it. An empty cell empties the field; a field without a column, or without a member in
 * the JSON object of the row, stays as it is stored, as does a year where that of the row cannot be read.
 */
function updatedBook(stored: Book, { book, absent = [], isYearUnread }: GoodRow, mapping: Mapping): Book {
  const fields = FIELDS.filter(
    (field) => mapping[field] !== undefined && !absent.includes(field) && !(field === 'year' && isYearUnread),
  );
  return { ...stored, ...Object.fromEntries(fields.map((field) => [field, book[field]])) };
}

/**
 * What a row with the id of a stored book changes.
 *
 * @returns the book as it becomes, why it cannot become so, or undefined if it stays as it is. A new text can be too long; a stored one
 *   may be longer
 */
export function compareRow(
  before: Book,
  row: GoodRow,
  mapping: Mapping,
): { readonly after: Book } | { readonly error: RowError } | undefined {
  const after = updatedBook(before, row, mapping);
  const changes = changesOf(before, after);
  const field = findLongText(changes);
  if (field) return { error: { kind: 'text-too-long', field } };
  return Object.keys(changes).length > 0 ? { after } : undefined;
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
  return Object.keys(changesOf(before, after)) as Field[];
}
