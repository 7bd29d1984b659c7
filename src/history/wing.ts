import type { Core, Gauge } from '../api/server.ts';
import { respondWith } from '../http/response.ts';
import type { StoreConnection } from '../store/engine.ts';
import type { StoreObserver } from '../store/observer.ts';
import type { Wing } from '../wing.ts';
import type { BookHistory } from './book-history.ts';
import { Followers } from './followers.ts';
import { HistoryHandlers } from './handlers.ts';
import { operations } from './operations.ts';

/** The log of changes, and what restores books from it. */
export const historyWing: Wing = {
  async open(connection, { historyDays }, observer) {
    const history = await openHistory(connection, historyDays, observer);
    return (
      history && {
        lost: history.lost,
        serve: (core) => serveHistory(core, history),
        [Symbol.asyncDispose]: () => history[Symbol.asyncDispose](),
      }
    );
  },
};

/**
 * Starts to record the changes of a store that is open, or stops; what was recorded stays.
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

/** Adds the routes of the history to a server. @returns its metrics */
export function serveHistory(core: Core, history: BookHistory): readonly Gauge[] {
  const { app, protect, onWritten, onDrain } = core;
  const followers = new Followers(history);
  const handlers = new HistoryHandlers(history, followers, core);
  const { followChanges, listDeletedBooks, readHistory, restoreBook, restoreBooks } = operations;
  app.get('/changes', { ...protect, config: followChanges }, respondWith(handlers.follow));
  app.get('/books/deleted', { ...protect, config: listDeletedBooks }, respondWith(handlers.listDeleted));
  app.get('/book/:id/history', { ...protect, config: readHistory }, respondWith(handlers.listOfBook));
  app.post('/book/:id/restore', { ...protect, config: restoreBook }, respondWith(handlers.restore));
  app.post('/books/restore', { ...protect, config: restoreBooks }, respondWith(handlers.restoreMany));
  onWritten(() => followers.written());
  onDrain(() => followers.stop());
  return [
    {
      name: 'bookkeeping_followers',
      help: 'Requests that wait for changes.',
      read: () => followers.count,
    },
  ];
}
