import type { BookClient } from '../../../../src/client/index.ts';
import type { BookRow } from '../../../../src/formats/book-row.ts';
import { keyOf } from '../../../../src/formats/equal-books.ts';

/** The books of a file that the service already has. */
export interface ExistingBooks {
  /** How often the service has each book of the file, by {@link keyOf}; at most as often as the file. */
  readonly counts: ReadonlyMap<string, number>;
  /** The sum of the counts. */
  readonly total: number;
}

/** The largest page of the service. */
const PAGE_BOOKS = 1_000;

/** Finds the books of a file that the service already has, by listing all of its books once. */
export async function findExistingBooks(
  rows: AsyncIterable<BookRow>,
  client: Pick<BookClient, 'list'>,
  signal: AbortSignal,
): Promise<ExistingBooks> {
  const rowCounts = new Map<string, number>();
  for await (const row of rows) {
    if ('book' in row) increment(rowCounts, keyOf(row.book));
    signal.throwIfAborted();
  }
  const counts = new Map<string, number>();
  let total = 0;
  for await (const book of client.list({ limit: PAGE_BOOKS }, { signal })) {
    const key = keyOf(book);
    if ((counts.get(key) ?? 0) >= (rowCounts.get(key) ?? 0)) continue;
    increment(counts, key);
    total++;
  }
  return { counts, total };
}

export async function* withoutExisting(
  rows: AsyncIterable<BookRow>,
  { counts }: ExistingBooks,
): AsyncGenerator<BookRow, void> {
  const left = new Map(counts);
  for await (const row of rows) {
    if (!('book' in row) || !decrement(left, keyOf(row.book))) yield row;
  }
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** @returns whether the count was above 0 */
function decrement(counts: Map<string, number>, key: string): boolean {
  const count = counts.get(key) ?? 0;
  if (count > 0) counts.set(key, count - 1);
  return count > 0;
}
