import { StoreUnavailable } from '../book/book-store.ts';

/** The longest time that a search waits for the index. */
export const INDEX_WAITS_MS = 5_000;

/** How far the index is. */
export interface Progress {
  /** Whether it has every change that was committed before. */
  readonly isCurrent: boolean;
  /** How much of the index is ready; undefined if another process prepares it, and on PostgreSQL, which is asked when a search fails. */
  readonly percent?: number | undefined;
  /** Whether it was just found damaged, and deleted. */
  readonly wasDamaged?: true;
}

/** The index is that of a newer version, or something else has its name. The reason is for the log; on SQLite for clients, too. */
export class UnusableIndex extends StoreUnavailable {}

/** The error of a search that has waited in vain. @param percent see {@link Progress} */
export function notPrepared(percent: Progress['percent']): StoreUnavailable {
  const part = percent === undefined ? '' : ` (${percent} %)`;
  return new StoreUnavailable('the search index is not ready', `The search is being prepared${part}`);
}

/** Explains the error of a search that has timed out before it knew that it has to wait for the index. */
export function explainTimeout(error: unknown, percent: Progress['percent']): unknown {
  const isUnexplained = error instanceof StoreUnavailable && error.detail === undefined;
  return isUnexplained ? new StoreUnavailable(error.reason, notPrepared(percent).detail) : error;
}

/** The error of a search while the index cannot be used. @param reason for the log @param detail of it for the client */
export function notUsable(reason: string, detail = 'the log of the service says why'): StoreUnavailable {
  return new StoreUnavailable(reason, `The search index cannot be used: ${detail}`);
}
