/**
 * Searches in the books of a store. Every method rejects with `StoreUnavailable` as those of `BookStore` do, and when the index of
 * the store is not ready within some seconds. A list by id without conditions needs no index.
 */
export interface BookSearch extends AsyncDisposable {
  /**
   * The first books of a query after a position, all of one moment: each matches as it is returned, and they are in order. A
   * call scans for a limited time and returns what it has found; the next call continues at `last`, at a later moment.
   * Following `last` returns every book exactly once that matches and keeps its position throughout.
   *
   * @param limit the maximum number of books, up to 1,000; 0 only tests whether there are any
   * @param after a position in the order of the query; absent for the start
   * @param signal when aborted, the call rejects with its reason at once and leaves the queue
   */
  search(query: SearchQuery, limit: number, after?: BookPosition, signal?: AbortSignal): Promise<SearchPage>;

  /** Counts the books of a query after a position, for a limited time as well: the total is the sum of the calls. */
  count(query: SearchQuery, after?: BookPosition, signal?: AbortSignal): Promise<BookCount>;

  /** Tells that this process has written to the store: an index that there is gets up to date soon, not only by the next search. */
  written(): void;
}

/** The keys by which lists can be sorted. */
export const SORT_KEYS = ['id', 'title', 'author', 'year'] as const;
export type SortKey = (typeof SORT_KEYS)[number];

/** What a list is sorted by. That of twins, in the order of their `twinKey` (src/search/folding.ts), has no other books. */
export type ListOrder = SortKey | 'twins';

/** The most code points of the key by which texts are sorted, so that a cursor fits into a URL and a key into an index. */
export const SORT_KEY_LENGTH = 250;

/** Filters, combined with AND, and the order of the result. NULL counts as `""` or `0`. */
export interface SearchQuery {
  /**
   * Texts are sorted by their words as `q` compares them, then by their code points: both within the first
   * {@link SORT_KEY_LENGTH} (src/search/folding.ts), and books with equal keys by id. Descending is the exact reverse.
   *
   * Twins are books with the same words in the title, the same in the author, and years that are at most one apart or 0. A filter
   * finds a book whether or not its twin matches.
   */
  readonly sort: ListOrder;
  readonly isDescending: boolean;
  /** Contained in the first 8,192 characters of the title, in any case (src/search/folding.ts defines case). */
  readonly title?: string;
  /** Contained in the author, likewise. */
  readonly author?: string;
  /** Each word of this text is a prefix of a word of title or author, in any case and with any accents; no book matches if it has none. */
  readonly q?: string;
  /** The range of years, inclusive. */
  readonly yearFrom: number;
  readonly yearTo: number;
  /** The number of matches after the position that a search does not return. */
  readonly skip?: number;
  /** The most bytes of a page of several books; by default 1 MiB. */
  readonly bytesMax?: number;
}

/** A position in the order of a query: after the book with this key and id, whether or not it exists. */
export interface BookPosition {
  /** The sort key: a number, or the key of a text. */
  readonly key: string | number;
  readonly id: number;
}

/** A page of the result of a query. */
export interface SearchPage {
  /** As in `ListPage`. */
  readonly json: Uint8Array;
  /** The number of books in it. */
  readonly count: number;
  /** The position up to which all books have been scanned. */
  readonly last: BookPosition | undefined;
  /** Whether a matching book follows `last`; unknown when the time of the call was up. */
  readonly more: 'no' | 'yes' | 'unknown';
  /** The `skip` of the call that continues at `last`. */
  readonly skip: number;
}

/** The number of matching books up to a position; `last` is undefined when all have been scanned. */
export interface BookCount {
  readonly count: number;
  readonly last: BookPosition | undefined;
}
