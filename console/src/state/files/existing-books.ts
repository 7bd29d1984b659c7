import type { BookClient } from 'bookkeeping-client/index.ts';
import type { BookRow } from 'bookkeeping-formats/book-row.ts';
import { keyOf } from 'bookkeeping-formats/equal-books.ts';

/** How often there is each book, by {@link keyOf}. */
export type BookCounts = ReadonlyMap<string, number>;

/** The largest page of the service. */
const PAGE_BOOKS = 1_000;

/**
 * Finds the books of a file that the service already has, by listing all of its books once.
 *
 * @returns how often the service has each of them, at most as often as the file
 */
export async function findExistingBooks(
  ofFile: BookCounts,
  client: Pick<BookClient, 'list'>,
  signal: AbortSignal,
): Promise<BookCounts> {
  const existing = new Map<string, number>();
  for await (const book of client.list({ limit: PAGE_BOOKS }, { signal })) {
    const key = keyOf(book);
    const count = existing.get(key) ?? 0;
    if (count < (ofFile.get(key) ?? 0)) existing.set(key, count + 1);
  }
  return existing;
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
