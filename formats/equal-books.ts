import type { BookFields } from '../src/book/contract.ts';

/**
 * Books with the same key are equal. An import that skips existing books skips one row for each stored book that is equal: of two
 * equal rows both are stored when there is no such book, and one when there is one.
 */
export function keyOf({ title, author, year }: BookFields): string {
  return JSON.stringify([title, author, year]);
}
