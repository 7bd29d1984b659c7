import type { BookPage } from '../book/book-store-interface.ts';
import { PAGE_BOOKS_MAX } from './store-limits.ts';

/** What an engine finds behind the last page, when it looks at a number of books at most. */
export interface PageRow {
  /** How many books it looked at. */
  readonly count: number;
  /** The id of the last of them. */
  readonly last: number;
  /** The books as JSON objects with commas between them; null when they are too long together for one page. */
  readonly json: Uint8Array | null;
}

/** Looks at up to `limit` books behind `after`; a single book is rendered however long it is. */
type ReadRow = (after: number, limit: number) => Promise<PageRow>;

/**
 * Reads the pages of one batch, one after the other; equal ones are read once.
 *
 * @returns the pages in the order of what they come after
 */
export async function readPages(afters: readonly number[], read: ReadRow): Promise<BookPage[]> {
  const pages = new Map<number, BookPage>();
  for (const after of new Set(afters)) {
    pages.set(after, await readPage(after, read));
  }
  return afters.map((after) => pages.get(after) as BookPage);
}

/** Reads one page, of fewer books where books are long. */
async function readPage(after: number, read: ReadRow): Promise<BookPage> {
  for (let limit = PAGE_BOOKS_MAX; ; limit = Math.ceil(limit / 2)) {
    const { count, last, json } = await read(after, limit);
    if (count === 0) return { json: new Uint8Array(), last: undefined };
    if (json !== null) return { json, last: count < limit ? undefined : last };
  }
}
