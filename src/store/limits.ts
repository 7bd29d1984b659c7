import type { BookFields } from '../book/book.ts';

/** The most books in one page of the list: what one trip may cost the others, and what a list leaves to be swept up. */
export const PAGE_BOOKS_MAX = 500;

/** The most bytes of text in a page of several books, as books may be long. */
export const PAGE_TEXT_BYTES_MAX = 1_024 * 1_024;

/** The most calls that share one trip to the store. */
const TRIP_ITEMS_MAX = 1_000;

/** The most calls of one kind that wait for a trip; beyond it the service is overloaded. */
const QUEUE_ITEMS_MAX = 10_000;

/**
 * The most text that the calls of one trip bring along, and about the most that their results do, in UTF-16 code units;
 * a single call may have more.
 */
export const TRIP_TEXT_MAX = 2 * 1_024 * 1_024;

/** The most text of the calls of one kind that are not answered yet, as their clients may be gone; likewise. */
const QUEUE_TEXT_MAX = 48 * 1_024 * 1_024;

export const TRIP_BOUNDS = {
  tripItemsMax: TRIP_ITEMS_MAX,
  tripTextMax: TRIP_TEXT_MAX,
  queueItemsMax: QUEUE_ITEMS_MAX,
  queueTextMax: QUEUE_TEXT_MAX,
};

/** How much text there is in the fields of a book, in UTF-16 code units. */
export function textLength({ title = '', author = '' }: Partial<BookFields>): number {
  return title.length + author.length;
}

/**
 * Performs the calls of a trip one after the other, until their results have more text than a trip may bring.
 *
 * @returns the results of the first calls; nothing was done for the others
 */
export function performUntilLong<Item, Result>(
  items: readonly Item[],
  perform: (item: Item) => Result,
): Result[] {
  const results: Result[] = [];
  let text = 0;
  for (const item of items) {
    const result = perform(item);
    results.push(result);
    if (typeof result === 'object' && result !== null) text += textLength(result);
    if (text > TRIP_TEXT_MAX) break;
  }
  return results;
}
