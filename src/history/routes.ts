import type { Core, Gauge } from '../api/server.ts';
import { respondWith } from '../http/response.ts';
import type { BookHistory } from './book-history.ts';
import { Followers } from './followers.ts';
import { HistoryHandlers } from './handlers.ts';
import { operations } from './operations.ts';

/** Adds the routes of the history to a server. @returns its metrics */
export function serveHistory(core: Core, history: BookHistory): readonly Gauge[] {
  const { app, connections, protect, bodies, unreadBudget, onWritten } = core;
  const followers = new Followers(history);
  const handlers = new HistoryHandlers(history, followers, bodies, unreadBudget);
  const { followChanges, listDeletedBooks, readHistory, restoreBook, restoreBooks } = operations;
  app.get('/changes', { ...protect, config: followChanges }, respondWith(handlers.follow));
  app.get('/books/deleted', { ...protect, config: listDeletedBooks }, respondWith(handlers.listDeleted));
  app.get('/book/:id/history', { ...protect, config: readHistory }, respondWith(handlers.listOfBook));
  app.post('/book/:id/restore', { ...protect, config: restoreBook }, respondWith(handlers.restore));
  app.post('/books/restore', { ...protect, config: restoreBooks }, respondWith(handlers.restoreMany));
  connections.onDrain = () => followers.stop();
  onWritten(() => followers.written());
  return [
    {
      name: 'bookkeeping_followers',
      help: 'Requests that wait for changes.',
      read: () => followers.count,
    },
  ];
}
