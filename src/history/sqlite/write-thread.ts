import type { Book } from '../../book/book.ts';
import { openWithoutCheckpoints, transactGuarded } from '../../store/sqlite/files/connection.ts';
import { FileGuard, StoreLost } from '../../store/sqlite/files/file-guard.ts';
import { toRejection } from '../../store/sqlite/rejections.ts';
import { serveRequests } from '../../store/sqlite/threads/thread-server.ts';
import type { RestoreFault, RestoreRequest } from '../book-history.ts';
import { ChangeReader } from './change-reader.ts';

/** Restores books; or a step that removes the first old changes, or adds the next ones to the index by book. */
export type Write = RestoreRequest | 'remove' | 'index';

/** What a restore returns; after a step, whether there may be more of such changes. */
export type Written = readonly Book[] | RestoreFault | boolean;

/** Or why the store may have lost what it has acknowledged: then nothing more may be written. */
export type WriteResponse = { readonly written: Written } | { readonly lost: string };

await serveRequests<Write, WriteResponse>(async (path, loss) => {
  const database = await openWithoutCheckpoints(path);
  const reader = new ChangeReader(database);
  const files = new FileGuard(path, loss);
  return {
    async handle(write) {
      try {
        const written: Written = await transactGuarded(database, files, () => {
          if (write === 'remove') return reader.removeOld();
          return write === 'index' ? reader.index() : reader.restore(write);
        });
        return { written };
      } catch (error) {
        if (error instanceof StoreLost) return { lost: error.message };
        throw typeof write === 'string' ? error : toRejection(database, error);
      }
    },
    close: () => database.close(),
  };
});
