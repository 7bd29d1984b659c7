import type { BookPage } from '../book/book-store.ts';

/** The most books in a page of the list, unless its caller gives another number. */
export const PAGE_BOOKS_MAX = 500;

/** The most books that one statement, or one message to a thread, reads for the pages of a batch, unless one page has more. */
const BOOKS_AT_ONCE = 2_000;

/** A page of up to `limit` books after an id. */
export interface PageRequest {
  readonly after: number;
  readonly limit: number;
}

/** The result of a statement that reads a page. */
export interface PageRow {
  /** The id of the last book; null, as `json` is, when there are none. */
  readonly last: number | null;
  /** Whether a book follows: true, or 1. */
  readonly more: unknown;
  /** The books as JSON objects with commas between them. */
  readonly json: Uint8Array | null;
}

export function toPage({ last, more, json }: PageRow): BookPage {
  return { json: json ?? new Uint8Array(), last: more ? (last ?? undefined) : undefined };
}

/**
 * Reads the pages of one batch, equal ones once.
 *
 * @param read reads some pages at once
 * @returns the pages in the order of the requests
 */
export async function readPages(
  requests: readonly PageRequest[],
  read: (requests: readonly PageRequest[]) => Promise<readonly BookPage[]>,
): Promise<BookPage[]> {
  const keyOf = ({ after, limit }: PageRequest) => `${after} ${limit}`;
  const remaining = [...new Map(requests.map((request) => [keyOf(request), request])).values()];
  const pages = new Map<string, BookPage>();
  while (remaining.length > 0) {
    const next = takeNext(remaining);
    for (const [index, page] of (await read(next)).entries())
      pages.set(keyOf(next[index] as PageRequest), page);
  }
  return requests.map((request) => pages.get(keyOf(request)) as BookPage);
}

/** Removes the first requests, at least one, which together have at most {@link BOOKS_AT_ONCE} books. */
function takeNext(requests: PageRequest[]): PageRequest[] {
  let books = 0;
  const end = requests.findIndex(({ limit }, index) => {
    books += limit;
    return index > 0 && books > BOOKS_AT_ONCE;
  });
  return requests.splice(0, end === -1 ? requests.length : end);
}
