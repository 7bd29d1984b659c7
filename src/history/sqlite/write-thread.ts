import { isSyncFailure } from '../../store/sqlite/errors.ts';
import { openConnection, transact } from '../../store/sqlite/files/connection.ts';
import { FileGuard, StoreLost } from '../../store/sqlite/files/file-guard.ts';
import { serveRequests } from '../../store/sqlite/threads/thread-client.ts';
import type { ChangeCursor } from '../book-history.ts';
import { ChangeReader, type Restored } from './change-reader.ts';

/** Restores a book, or several; or a step that removes the first old changes. */
export type Write = Restore | readonly number[] | 'remove';

export interface Restore {
  readonly id: number;
  readonly deletion: ChangeCursor | undefined;
}

/** Or why the store may have lost what it has acknowledged: then nothing more may be written. */
export type Written =
  | { readonly restored: Restored }
  | { readonly hasMore: boolean }
  | { readonly lost: string };

await serveRequests<Write, Written>(async (path) => {
  const database = await openConnection(path);
  // The write thread of the store runs the checkpoints, as SQLite does not report a failure of its own ones.
  database.exec('pragma wal_autocheckpoint = 0');
  const reader = new ChangeReader(database);
  const files = new FileGuard(path);
  const perform = (write: Write): Written => {
    if (write === 'remove') return { hasMore: reader.removeOld() };
    if ('id' in write) return { restored: reader.restore(write.id, write.deletion) };
    return { restored: reader.restoreMany(write) };
  };
  return {
    async handle(write) {
      try {
        const written = await transact(database, () => {
          files.checkWalIndex();
          return perform(write);
        });
        files.check();
        return written;
      } catch (error) {
        if (error instanceof StoreLost) return { lost: error.message };
        if (isSyncFailure(error)) return { lost: 'the disk has failed to make a change durable (fsync)' };
        throw error;
      }
    },
    close: () => database.close(),
  };
});
