import type { BookFields } from '../src/book/contract.ts';
import { foldText } from '../src/book/folded-text.ts';
import { FIELDS } from './row.ts';

/**
 * Books with the same key are equal. An import that skips existing books skips one row for each stored book that is equal: of two
 * equal rows both are stored when there is no such book, and one when there is one.
 */
export function keyOf(book: BookFields): string {
  return JSON.stringify(FIELDS.map((field) => book[field]));
}

/** The book of a {@link keyOf}. */
export function bookOfKey(key: string): BookFields {
  const values = JSON.parse(key) as (string | number)[];
  return Object.fromEntries(FIELDS.map((field, index) => [field, values[index]])) as unknown as BookFields;
}

/**
 * Books with the same key have the same words in title and author, ignoring case and accents: a row that is not equal to a stored book
 * with its key is probably that book, corrected.
 */
export function similarityKeyOf({ title, author }: BookFields): string {
  return JSON.stringify([foldText(title).trim() || title, foldText(author).trim() || author]);
}
