import type { BookClient } from 'bookkeeping-client/index.ts';
import type { BookRow } from 'bookkeeping-formats/book-row.ts';
import { bookOfKey, keyOf, similarityKeyOf } from 'bookkeeping-formats/equal-books.ts';

/** How often there is each book, by {@link keyOf}. */
export type BookCounts = ReadonlyMap<string, number>;

/** The largest page of the service. */
export const PAGE_BOOKS = 1_000;

/**
 * Finds the books of a file that the service already has, by listing all of its books once.
 *
 * @returns how often the service has each of them, at most as often as the file; and the number of other rows with the words of another
 *   stored book in title and author, which are probably corrections of it
 */
export async function findExistingBooks(
  ofFile: BookCounts,
  client: Pick<BookClient, 'list'>,
  signal: AbortSignal,
): Promise<{ readonly existing: BookCounts; readonly similar: number }> {
  const existing = new Map<string, number>();
  const others = new Set<string>();
  for await (const book of client.list({ limit: PAGE_BOOKS }, { signal })) {
    const key = keyOf(book);
    const count = existing.get(key) ?? 0;
    if (count < (ofFile.get(key) ?? 0)) existing.set(key, count + 1);
    else others.add(similarityKeyOf(book));
  }
  let similar = 0;
  for (const [key, count] of ofFile) {
    const left = count - (existing.get(key) ?? 0);
    if (left > 0 && others.has(similarityKeyOf(bookOfKey(key)))) similar += left;
  }
  return { existing, similar };
}

export async function* withoutExisting(
  rows: AsyncIterable<BookRow>,
  existing: BookCounts,
): AsyncGenerator<BookRow, void> {
  const left = new Map(existing);
  for await (const row of rows) {
    const key = 'book' in row ? keyOf(row.book) : '';
    const count = left.get(key) ?? 0;
    if (count === 0) yield row;
    else left.set(key, count - 1);
  }
}
