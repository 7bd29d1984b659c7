import type { BookPage } from '../book/book-store.ts';

/** The most books in a page of the list, unless its caller gives another number. */
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

/** A page of up to `limit` books after an id. */
export interface PageRequest {
  readonly after: number;
  readonly limit: number;
}

/**
 * Reads the pages of one batch, equal ones once.
 *
 * @returns the pages in the order of the requests
 */
export async function readPages(requests: readonly PageRequest[], read: ReadRow): Promise<BookPage[]> {
  const pages = new Map<string, BookPage>();
  const keyOf = ({ after, limit }: PageRequest) => `${after} ${limit}`;
  for (const request of requests) {
    const key = keyOf(request);
    if (!pages.has(key)) pages.set(key, await readPage(request.after, read, request.limit));
  }
  return requests.map((request) => pages.get(keyOf(request)) as BookPage);
}

/** Reads one page, of fewer books where books are long. */
export async function readPage(after: number, read: ReadRow, booksMax = PAGE_BOOKS_MAX): Promise<BookPage> {
  for (let limit = booksMax; ; limit = Math.ceil(limit / 2)) {
    const { count, last, json } = await read(after, limit);
    if (count === 0) return { json: new Uint8Array(), last: undefined };
    if (json !== null) return { json, last: count < limit ? undefined : last };
  }
}
