import type { BookPage } from '../book.ts';
import { PAGE_BOOKS_MAX } from './limits.ts';

/** What an engine finds behind the last page, when it looks at a number of books at most. */
export interface PageRow {
  /** How many books it looked at. */
  readonly count: number;
  /** The id of the last of them. */
  readonly last: number;
  /** The books as JSON objects with commas between them; null when they are too long together for one page. */
  readonly json: Uint8Array | null;
}

/**
 * Reads one page of the list, of fewer books where books are long.
 *
 * @param read looks at up to `limit` books; it must render a single book however long it is
 */
export async function readPage(read: (limit: number) => PageRow | Promise<PageRow>): Promise<BookPage> {
  for (let limit = PAGE_BOOKS_MAX; ; limit = Math.ceil(limit / 2)) {
    const { count, last, json } = await read(limit);
    if (count === 0) return { json: new Uint8Array(), last: undefined };
    if (json !== null) return { json, last: count < limit ? undefined : last };
  }
}
