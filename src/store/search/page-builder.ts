import {
  type BookPosition,
  type BookQuery,
  type SearchPage,
  type SortKey,
  YEAR_MAX,
} from '../../book/book.ts';
import { PAGE_BOOKS_MAX, PAGE_TEXT_BYTES_MAX } from '../limits.ts';

/** A book that is looked at. */
export interface Candidate extends BookPosition {
  /** The length of its texts. */
  readonly bytes: number;
}

/** How long one call may look at books; then the others have their turn. */
const CALL_MS_MAX = 50;

/** What one call of a search has found, while books go by in the order of its query. */
export class PageBuilder {
  readonly ids: number[] = [];
  last: BookPosition | undefined;
  more: SearchPage['more'] = 'unknown';
  readonly limit: number;
  readonly #deadline = callDeadline();
  #bytes = 0;

  constructor(limit: number, after: BookPosition | undefined) {
    this.limit = Math.min(limit, PAGE_BOOKS_MAX);
    this.last = after;
  }

  /** Takes the next book that matches, or leaves it to the next call. @returns whether it takes more */
  add({ key, id, bytes }: Candidate): boolean {
    const isFull = this.ids.length >= this.limit;
    const isLong = this.ids.length > 0 && this.#bytes + bytes > PAGE_TEXT_BYTES_MAX;
    if (isFull || isLong) {
      this.more = 'yes';
      return false;
    }
    this.ids.push(id);
    this.#bytes += bytes;
    this.last = { key, id };
    return true;
  }

  /** No further book matches up to this place. @returns whether there is time for more */
  skipTo({ key, id }: BookPosition): boolean {
    this.last = { key, id };
    return performance.now() < this.#deadline;
  }

  /** No further book matches. */
  end(): void {
    this.more = 'no';
  }
}

/** When the time of a call is up. */
export function callDeadline(): number {
  return performance.now() + CALL_MS_MAX;
}

/** The column that a search finds the sort key in. */
export function keyColumnOf(sort: SortKey): string {
  return sort === 'title' || sort === 'author' ? `${sort}_key` : sort;
}

/** Whether a query asks for some years only. */
export function hasYears({ yearFrom, yearTo }: BookQuery): boolean {
  return yearFrom > -YEAR_MAX || yearTo < YEAR_MAX;
}

/** Whether a query asks for all books in the order of their ids, for which there need be no index. */
export function isUnfiltered(query: BookQuery): boolean {
  const { sort, title, author, q } = query;
  return sort === 'id' && !title && !author && !q && !hasYears(query);
}
