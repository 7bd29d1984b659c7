import type { DatabaseSync } from 'node:sqlite';
import type { Book } from '../../book/contract.ts';
import { toTableRejection } from '../../store/sqlite/table-rejections.ts';
import type { Transact } from '../../store/sqlite/threads/write-thread.ts';
import type { RestoreFault, RestoreRequest } from '../book-history.ts';
import { ChangeReader } from './change-reader.ts';

/** Restores books; or a step that removes the first old changes, or adds the next ones to the index by book. */
export type ChangeWrite = RestoreRequest | 'remove' | 'index';

/** What a restore returns; after a step, whether there may be more of such changes. */
export type ChangeWriteResult = readonly Book[] | RestoreFault | boolean;

/** Runs in the write thread of the store. */
export async function write(
  database: DatabaseSync,
  transact: Transact,
  change: ChangeWrite,
): Promise<ChangeWriteResult> {
  const reader = new ChangeReader(database);
  if (change === 'remove') return transact(() => reader.removeOld());
  if (change === 'index') return transact(() => reader.index());
  try {
    return await transact(() => reader.restore(change));
  } catch (error) {
    throw toTableRejection(database, error);
  }
}
