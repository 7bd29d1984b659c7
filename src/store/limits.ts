import type { BookFields } from '../book/book.ts';

/** Limits of each kind of call. Text is counted in UTF-16 code units; a single call may exceed the limits of text. */
export const BATCH_LIMITS = {
  batchItemsMax: 1_000,
  /** Also approximately the most text in the results of a batch. */
  batchTextMax: 2 * 1_024 * 1_024,
  queueItemsMax: 10_000,
  /** All unfinished calls count, including those whose clients have disconnected. */
  queueTextMax: 48 * 1_024 * 1_024,
};

/** The interval at which old keys and changes are removed, and the most in one step, as other writes may wait for it. */
export const REMOVAL_MS = 60_000;
export const REMOVAL_MAX = 500;

/** The length of a book's texts, in UTF-16 code units. */
export function textLength({ title = '', author = '' }: Partial<BookFields>): number {
  return title.length + author.length;
}

/** Performs the calls of a batch until the text of the results exceeds its limit. @returns the results of these calls */
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
    if (text > BATCH_LIMITS.batchTextMax) break;
  }
  return results;
}
