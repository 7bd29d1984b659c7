import type { BookCount, BookPosition, SearchPage, SearchQuery } from './book-search.ts';
import type { Match } from './snapshot.ts';

/** The most books of a page: the maximum of `limit`, as a page is of one moment, and so of one call. */
export const SEARCH_BOOKS_MAX = 1_000;

/** The length of a page of several books, unless the query gives another one. */
export const SEARCH_PAGE_BYTES_MAX = 1_024 * 1_024;

/** The time in which one call of a search compares books; then calls of other searches run. */
const CALL_MS_MAX = 50;
/** The time for the rest of the page once there is a book in it: a page that ends here has fewer books than it could. */
export const PAGE_MS_MAX = 500;

/** The most books that a statement skips. */
const SKIPPED_MAX = 200_000;

/** Builds the page of one call of a search from matches in the order of the query. */
export class PageBuilder {
  readonly ids: number[] = [];
  last: BookPosition | undefined;
  more: SearchPage['more'] = 'unknown';
  /** The number of matches that are still to be skipped. */
  skip: number;
  readonly limit: number;
  readonly #bytesMax: number;
  readonly #startedMs = performance.now();
  readonly #positions: BookPosition[] = [];
  /** Of the texts. */
  #bytes = 0;

  constructor(
    limit: number,
    after: BookPosition | undefined,
    { skip = 0, bytesMax = SEARCH_PAGE_BYTES_MAX }: SearchQuery,
  ) {
    this.limit = Math.min(limit, SEARCH_BOOKS_MAX);
    this.last = after;
    this.skip = skip;
    this.#bytesMax = bytesMax;
  }

  /** The number of matches that the next statement skips. */
  get skippedNext(): number {
    return Math.min(this.skip, SKIPPED_MAX);
  }

  /** The number of matches up to the end of the page, with one more to know whether another page follows. */
  get selectedNext(): number {
    return this.skip + this.limit + 1;
  }

  /** Adds the next matches until the page is full. @returns whether all were added */
  addAll(matches: readonly Match[]): boolean {
    return matches.every((match) => this.#add(match));
  }

  /** Adds all matches that follow, or as many as the page has room for. */
  addLast(matches: readonly Match[]): void {
    if (this.addAll(matches)) this.end();
  }

  /** Records that no further book matches up to this position. @returns whether time is left */
  skipTo({ key, id }: BookPosition): boolean {
    this.last = { key, id };
    return performance.now() - this.#startedMs < (this.ids.length === 0 ? CALL_MS_MAX : PAGE_MS_MAX);
  }

  end(): void {
    this.more = 'no';
  }

  /**
   * Makes the page end earlier if its JSON, which escapes some characters, is longer than it may be.
   *
   * @returns whether it has fewer books now
   */
  shorten(length: number): boolean {
    const { ids } = this;
    if (length <= this.#bytesMax || ids.length <= 1) return false;
    ids.length = Math.max(1, Math.floor((ids.length * this.#bytesMax) / length));
    this.last = this.#positions[ids.length - 1];
    this.more = 'yes';
    return true;
  }

  #add({ key, id, bytes }: Match): boolean {
    if (this.skip > 0) {
      this.skip--;
      this.last = { key, id };
      return true;
    }
    const isLong = this.ids.length > 0 && this.#bytes + bytes > this.#bytesMax;
    if (isLong || this.ids.length >= this.limit) {
      this.more = 'yes';
      return false;
    }
    this.ids.push(id);
    this.#positions.push({ key, id });
    this.#bytes += bytes;
    this.last = { key, id };
    return true;
  }
}

/** Adds up the counts of consecutive positions, until no book follows or the time is over. */
export async function sumCounts(
  after: BookPosition | undefined,
  countAfter: (position: BookPosition | undefined) => Promise<BookCount>,
): Promise<BookCount> {
  const deadline = performance.now() + CALL_MS_MAX;
  let sum = 0;
  for (let position = after; ; ) {
    const { count, last } = await countAfter(position);
    sum += count;
    if (!last || performance.now() > deadline) return { count: sum, last };
    position = last;
  }
}
