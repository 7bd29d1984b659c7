import type { Book, BookClient, BookFields } from '../../../../src/client/index.ts';
import type { BookRow } from '../../../../src/formats/book-row.ts';

/** The books of a file that the service already has. */
export interface KnownBooks {
  /** How many of each, by {@link keyOf}; no more than the file has. */
  readonly counts: ReadonlyMap<string, number>;
  readonly total: number;
}

/** The largest page of the service. */
export const PAGE_BOOKS = 1_000;

/** Books with the same key are equal. */
export function keyOf({ title, author, year }: BookFields): string {
  return JSON.stringify([title, author, year]);
}

/**
 * Finds the books of a file that the service already has, by listing all of its books once.
 *
 * @param isLeaving whether a book of the service has a pending deletion
 */
export async function findKnownBooks(
  rows: AsyncIterable<BookRow>,
  client: Pick<BookClient, 'list'>,
  isLeaving: (book: Book) => boolean,
  signal: AbortSignal,
): Promise<KnownBooks> {
  const wanted = new Map<string, number>();
  for await (const row of rows) {
    if ('book' in row) increment(wanted, keyOf(row.book));
    signal.throwIfAborted();
  }
  const counts = new Map<string, number>();
  let total = 0;
  for await (const book of client.list({ limit: PAGE_BOOKS }, { signal })) {
    const key = keyOf(book);
    if ((counts.get(key) ?? 0) >= (wanted.get(key) ?? 0) || isLeaving(book)) continue;
    increment(counts, key);
    total++;
  }
  return { counts, total };
}

export async function* withoutKnown(
  rows: AsyncIterable<BookRow>,
  { counts }: KnownBooks,
): AsyncGenerator<BookRow, void> {
  const left = new Map(counts);
  for await (const row of rows) {
    if (!('book' in row) || !decrement(left, keyOf(row.book))) yield row;
  }
}

export function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** @returns whether the count was above 0 */
export function decrement(counts: Map<string, number>, key: string): boolean {
  const count = counts.get(key) ?? 0;
  if (count > 0) counts.set(key, count - 1);
  return count > 0;
}
