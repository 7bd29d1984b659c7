import type { BookClient } from 'bookkeeping-client/index.ts';
import type { BookRow } from 'bookkeeping-formats/book-row.ts';
import { bookOfKey, keyOf, similarityKeyOf } from 'bookkeeping-formats/equal-books.ts';
import { pauses } from './file-bytes.ts';

/** How often there is each book, by {@link keyOf}. */
export type BookCounts = ReadonlyMap<string, number>;

/** The largest page of the service. */
export const PAGE_BOOKS = 1_000;

/**
 * Finds the books of a file that the service already has, by listing all of its books once. Of these, it keeps only what is about the
 * file in memory.
 *
 * @param onProgress is called with the number of books that were compared
 * @returns how often the service has each of them, at most as often as the file; and the number of other rows with the words of another
 *   stored book in title and author, which are probably corrections of it
 */
export async function findExistingBooks(
  ofFile: BookCounts,
  client: Pick<BookClient, 'list'>,
  signal: AbortSignal,
  onProgress: (books: number) => void = () => {},
): Promise<{ readonly existing: BookCounts; readonly similar: number }> {
  const existing = new Map<string, number>();
  const left = await countBySimilarity(ofFile, signal);
  const similarTo = new Set<string>();
  let compared = 0;
  for await (const { books } of client.list({ limit: PAGE_BOOKS }, { signal }).pages()) {
    for (const book of books) {
      const similarityKey = similarityKeyOf(book);
      const rows = left.get(similarityKey);
      if (rows === undefined) continue;
      const key = keyOf(book);
      const count = existing.get(key) ?? 0;
      if (count < (ofFile.get(key) ?? 0)) {
        existing.set(key, count + 1);
        left.set(similarityKey, rows - 1);
      } else similarTo.add(similarityKey);
    }
    compared += books.length;
    onProgress(compared);
  }
  let similar = 0;
  for (const similarityKey of similarTo) similar += left.get(similarityKey) ?? 0;
  return { existing, similar };
}

/** The number of rows with the same words, by {@link similarityKeyOf}; with pauses, as a file may have millions. */
async function countBySimilarity(ofFile: BookCounts, signal: AbortSignal): Promise<Map<string, number>> {
  const rows = new Map<string, number>();
  const pause = pauses();
  for (const [key, count] of ofFile) {
    const similarityKey = similarityKeyOf(bookOfKey(key));
    rows.set(similarityKey, (rows.get(similarityKey) ?? 0) + count);
    await pause();
    signal.throwIfAborted();
  }
  return rows;
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
