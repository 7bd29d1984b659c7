import { existsSync, realpathSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreNotReady } from '../../errors.ts';
import { isSyncFailure } from '../errors.ts';
import { identityOf } from './file-guard.ts';
import { whileBusy } from './transactions.ts';

/** How long SQLite blocks the thread for a lock: enough for short ones; {@link whileBusy} waits longer. */
const BLOCKING_TIMEOUT_MS = 10;

/** The growth of the WAL that triggers a checkpoint; SQLite's own default (sqlite.org/wal.html, section 3). */
const WAL_PAGES_MAX = 1_000;

/**
 * Opens a connection whose commits survive a power failure.
 *
 * @param expectFitting throws when the file cannot be used, before the first change to it
 * @throws StoreNotReady when SQLite rejects the required settings; otherwise the error of `expectFitting`
 */
export async function openConnection(
  path: string,
  expectFitting: (database: DatabaseSync) => void = () => {},
): Promise<DatabaseSync> {
  const identity = identityOf(path);
  const database = new DatabaseSync(path, { timeout: BLOCKING_TIMEOUT_MS });
  try {
    await whileBusy(() => expectFitting(database));
    // Concurrent processes that open an empty file lock each other out here.
    await whileBusy(() => database.exec('pragma journal_mode = wal'));
    // In WAL mode only FULL syncs the WAL at every commit (sqlite.org/pragma.html#pragma_synchronous). fullfsync flushes
    // the cache of the disk on macOS.
    database.exec('pragma synchronous = full; pragma fullfsync = on');
    expectSetting(database, 'journal_mode', 'wal');
    expectSetting(database, 'synchronous', 2);
    // A restore holds the lock while it replaces the file, so a connection that waited has the old file open.
    if (identity !== undefined && identity !== identityOf(path)) {
      throw new StoreNotReady(`the SQLite file ${path} was replaced while it was opened`);
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The longest wait for other programs that read or write while the last connection of a process closes. */
const CLOSING_BUSY_MS = 500;

/**
 * Closes the last connection of a process, so that the file alone has all books. SQLite itself writes the WAL to the file only
 * when it closes the very last connection: of two processes that stop at once, each may find the other one still there.
 *
 * @throws errors of a sync that fails; the connection is then still open
 */
export async function closeLast(database: DatabaseSync): Promise<void> {
  try {
    const deadline = performance.now() + CLOSING_BUSY_MS;
    const checkpoint = database.prepare('pragma main.wal_checkpoint(truncate)');
    while (checkpoint.get()?.busy !== 0 && performance.now() < deadline) await sleep(1 + Math.random() * 9);
  } catch (error) {
    if (isSyncFailure(error)) throw error;
    // The books are in the WAL, which `describeWal` reports.
  }
  database.close();
}

/** After the store was closed: what its file alone lacks, in one phrase; undefined when it has all books. */
export function describeWal(path: string): string | undefined {
  const wal = `${existsSync(path) ? realpathSync(path) : path}-wal`;
  if ((statSync(wal, { throwIfNoEntry: false })?.size ?? 0) === 0) return undefined;
  return 'the latest books are in the WAL alone, as another program uses the store, or the disk is slow or full';
}

/** Opens a connection that leaves checkpoints to the write thread, as SQLite does not report a failure of its own ones. */
export async function openWithoutCheckpoints(path: string): Promise<DatabaseSync> {
  const database = await openConnection(path);
  database.exec('pragma wal_autocheckpoint = 0');
  return database;
}

/**
 * Disables automatic checkpoints, whose failures SQLite does not report.
 *
 * @returns a function that runs a checkpoint if the WAL has grown; it throws when a sync fails
 */
export function takeOverCheckpoints(database: DatabaseSync): () => void {
  database.exec('pragma wal_autocheckpoint = 0');
  const selectExtent = database.prepare('pragma main.wal_checkpoint(noop)');
  return () => {
    try {
      const { log, checkpointed } = selectExtent.get() as { log: number; checkpointed: number };
      if (log - checkpointed >= WAL_PAGES_MAX) database.exec('pragma main.wal_checkpoint(passive)');
    } catch (error) {
      if (isSyncFailure(error)) throw error;
    }
  };
}

function expectSetting(database: DatabaseSync, name: string, expected: string | number): void {
  const value = database.prepare(`pragma ${name}`).get()?.[name];
  if (value !== expected) throw new StoreNotReady(`SQLite rejects ${name} = ${expected} for this file`);
}
