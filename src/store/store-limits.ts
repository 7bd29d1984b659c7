import type { BookFields } from '../book/book.ts';

/** The most books in a page of the list; it bounds how long other calls wait and how much garbage a list leaves. */
export const PAGE_BOOKS_MAX = 500;

/** The most bytes of text in a page of several books. */
export const PAGE_TEXT_BYTES_MAX = 1_024 * 1_024;

/** The most calls in a batch. */
const BATCH_ITEMS_MAX = 1_000;

/** The most queued calls of one kind; beyond it the service is overloaded. */
const QUEUE_ITEMS_MAX = 10_000;

/**
 * The most text in the calls of a batch, and approximately in its results, in UTF-16 code units; a single call may have
 * more.
 */
export const BATCH_TEXT_MAX = 2 * 1_024 * 1_024;

/** The most text in the unfinished calls of one kind, in UTF-16 code units; it also bounds calls whose clients have gone. */
const QUEUE_TEXT_MAX = 48 * 1_024 * 1_024;

export const BATCH_LIMITS = {
  batchItemsMax: BATCH_ITEMS_MAX,
  batchTextMax: BATCH_TEXT_MAX,
  queueItemsMax: QUEUE_ITEMS_MAX,
  queueTextMax: QUEUE_TEXT_MAX,
};

/** The length of a book's texts, in UTF-16 code units. */
export function textLength({ title = '', author = '' }: Partial<BookFields>): number {
  return title.length + author.length;
}

/**
 * Performs the calls of a batch one by one until the text of their results exceeds the limit of a batch.
 *
 * @returns the results of the first calls; the others were not performed
 */
export function performUntilTextMax<Item, Result>(
  items: readonly Item[],
  perform: (item: Item) => Result,
): Result[] {
  const results: Result[] = [];
  let text = 0;
  for (const item of items) {
    const result = perform(item);
    results.push(result);
    if (typeof result === 'object' && result !== null) text += textLength(result);
    if (text > BATCH_TEXT_MAX) break;
  }
  return results;
}
