import type { BookPage } from '../book/book-store.ts';

/** The most books in a page of the list; it bounds the latency of other calls and the garbage that a list creates. */
export const PAGE_BOOKS_MAX = 500;
/** The most bytes of text in a page of several books. */
export const PAGE_TEXT_BYTES_MAX = 1_024 * 1_024;

/** The result of reading up to a number of books after an id. */
export interface PageRow {
  readonly count: number;
  readonly last: number;
  /** The books as JSON objects with commas between them; null when their texts exceed the limit of one page. */
  readonly json: Uint8Array | null;
}

/** Reads up to `limit` books after an id; a single book is rendered whatever its length. */
type ReadRow = (after: number, limit: number) => Promise<PageRow>;

/** Reads the pages of one batch, equal ones once. @returns the pages in the order of `afters` */
export async function readPages(
  afters: readonly number[],
  read: ReadRow,
  booksMax = PAGE_BOOKS_MAX,
): Promise<BookPage[]> {
  const pages = new Map<number, BookPage>();
  for (const after of new Set(afters)) pages.set(after, await readPage(after, read, booksMax));
  return afters.map((after) => pages.get(after) as BookPage);
}

/** Reads one page, of fewer books where books are long. */
export async function readPage(after: number, read: ReadRow, booksMax = PAGE_BOOKS_MAX): Promise<BookPage> {
  for (let limit = booksMax; ; limit = Math.ceil(limit / 2)) {
    const { count, last, json } = await read(after, limit);
    if (count === 0) return { json: new Uint8Array(), last: undefined };
    if (json !== null) return { json, last: count < limit ? undefined : last };
  }
}
