import type { Core, Gauge } from '../api/server.ts';
import { respondWith } from '../http/response.ts';
import type { BookHistory } from './book-history.ts';
import { Followers } from './followers.ts';
import { HistoryHandlers } from './handlers.ts';
import { operations } from './operations.ts';

/** Adds the routes of the history to a server. @returns its metrics */
export function serveHistory(core: Core, history: BookHistory): readonly Gauge[] {
  const { app, connections, protect, unread, onWritten } = core;
  const followers = new Followers(history);
  const handlers = new HistoryHandlers(history, followers, unread);
  const { followChanges, listDeletedBooks, readHistory, restoreBook } = operations;
  app.get('/changes', { ...protect, config: followChanges }, respondWith(handlers.follow));
  app.get('/books/deleted', { ...protect, config: listDeletedBooks }, respondWith(handlers.listDeleted));
  app.get('/book/:id/history', { ...protect, config: readHistory }, respondWith(handlers.listOfBook));
  app.post('/book/:id/restore', { ...protect, config: restoreBook }, respondWith(handlers.restore));
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
