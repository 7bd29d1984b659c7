import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreNotReady } from '../../store-errors.ts';
import { isBusy } from '../errors.ts';
import { identityOf, NO_FILE } from './file-guard.ts';

/** How long we wait for other processes that hold the file. */
const BUSY_TIMEOUT_MS = 5_000;

/** How long the engine itself waits, with its whole thread: enough for the locks that are held for an instant. */
const BLOCKING_TIMEOUT_MS = 10;

/** The log is moved when it has grown by so many pages, which is SQLite's own measure (sqlite.org/wal.html, section 3). */
export const LOG_PAGES_MAX = 1_000;

/**
 * Makes the folders above a SQLite file. `mkdirSync` with `recursive` never returns where a file system refuses new
 * folders with ENOENT, as /proc does.
 *
 * @throws errors of the file system
 */
export function makeFolderOf(path: string): void {
  const folder = dirname(path);
  if (existsSync(folder)) return;
  makeFolderOf(folder);
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have made it at the same time.
    if (!existsSync(folder)) throw error;
  }
}

/**
 * Expects that a SQLite file and its logs can be written where they exist. SQLite itself opens other files for reading
 * without an error, and leaves logs there that are read-only, too.
 *
 * @throws StoreNotReady when one of them is read-only
 */
export function expectWritable(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      accessSync(file, constants.W_OK);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (NOT_WRITABLE.has(code))
        throw new StoreNotReady(`the store is read-only: ${file} cannot be written (${code})`);
    }
  }
}

const NOT_WRITABLE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);

/**
 * Opens a connection whose commits survive a power cut.
 *
 * @param expectFitting throws when the file cannot be used, before the first change to it
 * @throws StoreNotReady when the engine does not take the settings that this rests on; else what `expectFitting` throws
 */
export async function openConnection(
  path: string,
  expectFitting: (database: DatabaseSync) => void = () => {},
): Promise<DatabaseSync> {
  const identity = identityOf(path);
  const database = new DatabaseSync(path, { timeout: BLOCKING_TIMEOUT_MS });
  try {
    await whileBusy(() => expectFitting(database));
    // Several processes that open an empty file at once are in each other's way here.
    await whileBusy(() => database.exec('pragma journal_mode = wal'));
    // In WAL mode FULL syncs the log at every commit; with NORMAL a power cut takes acknowledged writes along
    // (sqlite.org/pragma.html#pragma_synchronous). The second one makes macOS flush the disk's own cache, too.
    database.exec('pragma synchronous = full; pragma fullfsync = on');
    expectSetting(database, 'journal_mode', 'wal');
    expectSetting(database, 'synchronous', 2);
    // A restore holds the lock while it replaces the file; what waited for the lock has the old file open.
    if (identity !== NO_FILE && identity !== identityOf(path)) {
      throw new StoreNotReady(`the SQLite file ${path} was replaced while it was opened`);
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Runs an operation until no other process is in the way, without holding up this thread.
 *
 * @throws what the operation throws; its SQLITE_BUSY only after BUSY_TIMEOUT_MS
 */
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

/** Runs an operation in a write transaction; when it throws, nothing has happened. */
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

function expectSetting(database: DatabaseSync, name: string, expected: string | number): void {
  const value = database.prepare(`pragma ${name}`).get()?.[name];
  if (value !== expected) throw new StoreNotReady(`SQLite refuses ${name} = ${expected} for this file`);
}
