import { RecordingVerifier } from '../../store/sqlite/change-log.ts';
import { openConnection } from '../../store/sqlite/files/connection.ts';
import { serveRequests } from '../../store/sqlite/threads/thread-client.ts';
import type { ChangePage, ChangeRequest, CursorFault } from '../book-history.ts';
import { ChangeReader, expectRecording } from './change-reader.ts';

/** Reads changes; the log is verified in the transaction of each read. */
await serveRequests<ChangeRequest, ChangePage | CursorFault>(async (path) => {
  const database = await openConnection(path);
  const verifier = new RecordingVerifier(database);
  const reader = new ChangeReader(database);
  return {
    handle(request) {
      database.exec('begin');
      try {
        expectRecording(verifier);
        return reader.read(request);
      } finally {
        if (database.isTransaction) database.exec('rollback');
      }
    },
    close: () => database.close(),
  };
});
