import type { BookPage } from '../book/book-store.ts';

/** The most books in a page of the list, unless its caller gives another number. */
export const PAGE_BOOKS_MAX = 500;

/** A page of up to `limit` books after an id. */
export interface PageRequest {
  readonly after: number;
  readonly limit: number;
}

/** The result of a statement that reads a page. */
export interface PageRow {
  readonly count: number;
  /** The id of the last book; null, as `json` is, when there are none. */
  readonly last: number | null;
  /** The books as JSON objects with commas between them. */
  readonly json: Uint8Array | null;
}

export function toPage({ count, last, json }: PageRow, limit: number): BookPage {
  return { json: json ?? new Uint8Array(), last: count < limit ? undefined : (last ?? undefined) };
}

/** Reads the pages of one batch, equal ones once. @returns the pages in the order of the requests */
export async function readPages(
  requests: readonly PageRequest[],
  read: (request: PageRequest) => Promise<BookPage>,
): Promise<BookPage[]> {
  const pages = new Map<string, BookPage>();
  const keyOf = ({ after, limit }: PageRequest) => `${after} ${limit}`;
  for (const request of requests) {
    const key = keyOf(request);
    if (!pages.has(key)) pages.set(key, await read(request));
  }
  return requests.map((request) => pages.get(keyOf(request)) as BookPage);
}
