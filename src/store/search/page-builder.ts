import type { BookPosition, SearchPage } from '../../book/book-store-interface.ts';
import { PAGE_BOOKS_MAX, PAGE_TEXT_BYTES_MAX } from '../store-limits.ts';
import type { Match } from './engine-interface.ts';

/** How long one call of a search compares books; then other searches have their turn. */
const CALL_MS_MAX = 50;

/** The page that one call of a search finds, while it goes through the books in the order of the query. */
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

  /** Adds the next matches, as many as fit. @returns whether all of them did */
  addAll(matches: readonly Match[]): boolean {
    return matches.every((match) => this.#add(match));
  }

  /** No further book matches up to this position. @returns whether there is time for more */
  skipTo({ key, id }: BookPosition): boolean {
    this.last = { key, id };
    return performance.now() < this.#deadline;
  }

  /** No further book matches. */
  end(): void {
    this.more = 'no';
  }

  #add({ key, id, bytes }: Match): boolean {
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
}

/** When the time of a call that begins now is up, in terms of `performance.now()`. */
export function callDeadline(): number {
  return performance.now() + CALL_MS_MAX;
}
