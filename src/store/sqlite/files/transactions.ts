import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { isBusy } from '../errors.ts';
import type { FileGuard } from './file-guard.ts';

/** The longest wait for locks of other processes. */
const BUSY_TIMEOUT_MS = 5_000;

/** Retries an operation while it fails with SQLITE_BUSY, for BUSY_TIMEOUT_MS, without blocking the thread. */
export async function whileBusy<Result>(operation: () => Result): Promise<Result> {
  const deadline = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      return operation();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
    }
    await sleep(1 + Math.random() * 9);
  }
}

/**
 * Commits what an operation writes, or nothing if it throws. It waits while another connection writes.
 * @throws what the operation throws, or an error of SQLite
 */
export async function transact<Result>(database: DatabaseSync, operation: () => Result): Promise<Result> {
  await whileBusy(() => database.exec('begin immediate'));
  try {
    const result = operation();
    database.exec('commit');
    return result;
  } catch (error) {
    // Some errors have already rolled it back.
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
}

/** A transaction that is acknowledged only if it is in the files that were opened. @throws StoreLost */
export async function transactGuarded<Result>(
  database: DatabaseSync,
  files: FileGuard,
  operation: () => Result,
): Promise<Result> {
  try {
    const result = await transact(database, () => {
      // Not earlier: it may have waited for the lock.
      files.checkUnderLock();
      return operation();
    });
    files.check();
    return result;
  } catch (error) {
    throw files.toLost(error);
  }
}
