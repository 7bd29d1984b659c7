import type { Book, BookFields } from '../src/book/contract.ts';
import type { Mapping } from './mapping.ts';
import { FIELDS, type Field } from './row.ts';

/**
 * What a row with the id of a stored book makes of it. An empty cell empties the field; a field without a column, or without a member in
 * the JSON object of the row, stays as it is stored.
 */
export function updatedBook(
  stored: Book,
  { book, absent = [] }: { readonly book: BookFields; readonly absent?: readonly Field[] },
  mapping: Mapping,
): Book {
  const fields = FIELDS.filter((field) => mapping[field] !== undefined && !absent.includes(field));
  return { ...stored, ...Object.fromEntries(fields.map((field) => [field, book[field]])) };
}

/** The fields that differ, in the order of the columns. */
export function changedFields(before: BookFields, after: BookFields): readonly Field[] {
  return FIELDS.filter((field) => before[field] !== after[field]);
}
