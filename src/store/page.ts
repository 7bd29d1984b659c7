import { type ListPage, PAGE_BYTES_MAX, type PageOptions } from '../book/book-store.ts';

/** The most books in a page of the list, unless its caller gives another number. */
export const PAGE_BOOKS_MAX = 500;

/**
 * The most bytes that one statement, or one message to a thread, reads for several pages: 64 pages of the whole list, or 8 single ones.
 * With many lists in a batch, those at the same page stay together, and share all their later pages, too.
 */
const BYTES_AT_ONCE = 8 * 1_024 * 1_024;

/** A page of up to `books` books after an id, that ends before it has more than `bytes`. */
export interface PageRequest {
  readonly after: number;
  readonly books: number;
  readonly bytes: number;
}

/** The request for the page after an id, with the default limits of books and bytes. */
export function toPageRequest(
  after: number,
  { books = PAGE_BOOKS_MAX, bytes = PAGE_BYTES_MAX }: PageOptions = {},
): PageRequest {
  return { after, books, bytes };
}

/** The options of the queue of pages: as many form a batch as are read at once, and those that equal one of them. */
export const PAGE_BATCHES = {
  joining: () => {
    const keys = new Set<string>();
    let bytes = 0;
    return (request: PageRequest) => {
      const key = keyOf(request);
      if (keys.has(key)) return true;
      bytes += request.bytes;
      if (keys.size > 0 && bytes > BYTES_AT_ONCE) return false;
      keys.add(key);
      return true;
    };
  },
};

/** The result of a statement that reads a page. */
export interface PageRow {
  /** The id of the last book; null, as `json` is, when there are none. */
  readonly last: number | null;
  /** Whether a book follows: true, or 1. */
  readonly more: unknown;
  /** The books as JSON objects with commas between them, in memory of its own. */
  readonly json: Uint8Array | null;
}

/** The page of a row. @returns the last id only if a book follows */
export function toPage({ last, more, json }: PageRow): ListPage {
  return { json: json ?? new Uint8Array(), last: more ? (last ?? undefined) : undefined };
}

/**
 * Reads the pages of one batch, equal ones once.
 *
 * @returns the pages in the order of the requests
 */
export async function readPages(
  requests: readonly PageRequest[],
  read: (different: readonly PageRequest[]) => Promise<readonly ListPage[]>,
): Promise<ListPage[]> {
  const sharing = Map.groupBy(requests, keyOf);
  const pages = await read([...sharing.values()].map(([request]) => request as PageRequest));
  const shared = new Map(
    [...sharing].map(([key, { length }], index) => [key, share(pages[index] as ListPage, length)]),
  );
  return requests.map((request) => shared.get(keyOf(request)) as ListPage);
}

/** The pages of a long list are hundreds of megabytes: as garbage, each 15 MB of them would cause a full garbage collection. */
function share(page: ListPage, callers: number): ListPage {
  let remaining = callers;
  const free = () => {
    remaining--;
    if (remaining === 0) (page.json.buffer as ArrayBuffer).transfer(0);
  };
  return { ...page, free };
}

function keyOf({ after, books, bytes }: PageRequest): string {
  return `${after} ${books} ${bytes}`;
}
