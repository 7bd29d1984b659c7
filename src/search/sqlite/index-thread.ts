import { StoreUnavailable } from '../../book/book-store.ts';
import { reasonOf } from '../../store/sqlite/errors.ts';
import { openWithoutCheckpoints } from '../../store/sqlite/files/connection.ts';
import { serveRequests } from '../../store/sqlite/threads/thread-client.ts';
import { IndexUpdater, type Progress } from './index-updater.ts';

/** A step of bringing the index up to date. */
export interface Step {
  /** Whether a search has found the index damaged. */
  readonly isDamaged: boolean;
}

await serveRequests<Step, Progress>(async (path) => {
  const database = await openWithoutCheckpoints(path);
  let updater: IndexUpdater | undefined;
  return {
    async handle({ isDamaged }) {
      try {
        updater ??= await IndexUpdater.open(database);
        return updater.step(isDamaged);
      } catch (error) {
        const reason = reasonOf(error);
        throw reason === undefined ? error : new StoreUnavailable(reason);
      }
    },
    close() {
      updater?.close();
      database.close();
    },
  };
});
