import type { Book, BookClient, BookFields } from '../../../../src/client/index.ts';
import type { BookRow } from '../../../../src/formats/book-row.ts';

/** The books of a file that the service has already. */
export interface KnownBooks {
  /** How many of each, by its key; no more than the file has. */
  readonly counts: ReadonlyMap<string, number>;
  /** How many in all. */
  readonly total: number;
}

/** As many as the service gives in one response. */
const PAGE_BOOKS = 1_000;

/** Books of one key are the same to an import. */
export function keyOf({ title, author, year }: BookFields): string {
  return JSON.stringify([title, author, year]);
}

/**
 * Finds out which books of a file the service has, by reading all of its books once.
 *
 * @param isLeaving whether a book of the service is about to be deleted
 * @throws what the client throws; the reason of the signal when it is aborted
 */
export async function findKnownBooks(
  findings: AsyncIterable<BookRow>,
  client: Pick<BookClient, 'list'>,
  isLeaving: (book: Book) => boolean,
  signal: AbortSignal,
): Promise<KnownBooks> {
  const wanted = new Map<string, number>();
  for await (const finding of findings) {
    if ('book' in finding) add(wanted, keyOf(finding.book));
    signal.throwIfAborted();
  }
  const counts = new Map<string, number>();
  let total = 0;
  for await (const book of client.list({ limit: PAGE_BOOKS }, { signal })) {
    const key = keyOf(book);
    if ((counts.get(key) ?? 0) >= (wanted.get(key) ?? 0) || isLeaving(book)) continue;
    add(counts, key);
    total++;
  }
  return { counts, total };
}

/** Leaves out the books that are known: for each that the service has, one of the file. */
export async function* withoutKnown(
  findings: AsyncIterable<BookRow>,
  { counts }: KnownBooks,
): AsyncGenerator<BookRow, void> {
  const left = new Map(counts);
  for await (const finding of findings) {
    const key = 'book' in finding ? keyOf(finding.book) : '';
    const count = left.get(key) ?? 0;
    if (count === 0) yield finding;
    else left.set(key, count - 1);
  }
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
