import { openConnection } from '../../store/sqlite/files/connection.ts';
import { serveRequests } from '../../store/sqlite/threads/thread-server.ts';
import type { ChangePage, ChangeRequest, CursorFault } from '../book-history.ts';
import { ChangeReader } from './change-reader.ts';

await serveRequests<ChangeRequest, ChangePage | CursorFault>(async (path) => {
  const database = await openConnection(path);
  const reader = new ChangeReader(database);
  return {
    handle(request) {
      database.exec('begin');
      try {
        return reader.read(request);
      } finally {
        if (database.isTransaction) database.exec('rollback');
      }
    },
    close: () => database.close(),
  };
});
