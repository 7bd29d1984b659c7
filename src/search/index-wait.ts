import { StoreUnavailable } from '../book/book-store.ts';

/** The longest time that a search waits for the index. */
export const INDEX_WAITS_MS = 5_000;

/** The index is that of a newer version, or something else has its name. The reason is for the log; on SQLite for clients, too. */
export class UnusableIndex extends StoreUnavailable {}

/** The error of a search that has waited in vain. @param percent how much of the index is ready, if that is known */
export function notPrepared(percent: number | undefined): StoreUnavailable {
  const part = percent === undefined ? '' : ` (${percent} %)`;
  return new StoreUnavailable('the search index is not ready', `The search is being prepared${part}`);
}

/** Explains the error of a search that has timed out before it knew that it has to wait for the index. */
export function explainTimeout(error: unknown, percent: number | undefined): unknown {
  const isUnexplained = error instanceof StoreUnavailable && error.detail === undefined;
  return isUnexplained ? new StoreUnavailable(error.reason, notPrepared(percent).detail) : error;
}

/** The error of a search while the index cannot be used. @param reason for the log @param detail of it for the client */
export function notUsable(reason: string, detail = 'the log of the service says why'): StoreUnavailable {
  return new StoreUnavailable(reason, `The search index cannot be used: ${detail}`);
}
