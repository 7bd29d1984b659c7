import type { StoreConnection } from '../store/engine.ts';
import type { StoreObserver } from '../store/observer.ts';
import type { BookHistory } from './book-history.ts';

/**
 * Starts to record the changes of a store that is open, or stops; what was recorded stays. Dispose of it before the store.
 *
 * @param days how long changes are kept; undefined to stop
 * @returns undefined when it is off, or the store cannot have one, which is reported to the observer
 * @throws StoreNotReady
 */
export async function openHistory(
  connection: StoreConnection,
  days: number | undefined,
  observer: StoreObserver,
): Promise<BookHistory | undefined> {
  if (connection.engine === 'sqlite')
    return (await import('./sqlite/history.ts')).openHistory(connection, days, observer);
  return (await import('./postgres/history.ts')).openHistory(connection, days, observer);
}
