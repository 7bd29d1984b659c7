import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { StoreNotReady } from '../../store-errors.ts';
import { isBusy, isDamaged, toNotReady } from '../errors.ts';
import { expectBooks } from '../schema.ts';
import { copyDatabase, removeDatabase, sync, toCopyError } from './backup-file.ts';
import { whileBusy } from './connection.ts';

/**
 * Puts a copy of a backup in the place of the SQLite file at `path`, at once or not at all. The store that was there is
 * kept under another name.
 *
 * @param file the backup, which is not changed
 * @param onProgress is called with the part that is done, from 0 to 1; what it throws ends the restore
 * @returns the name under which the store that was there is kept; undefined when there was none
 * @throws StoreNotReady when the backup is not a good store, or another process has the store open
 */
export async function restoreStore(
  path: string,
  file: string,
  onProgress: (part: number) => void,
): Promise<string | undefined> {
  if (!existsSync(file)) throw new StoreNotReady(`the backup ${file} does not exist`);
  const backup = statSync(file);
  const before = existsSync(path) ? statSync(path) : undefined;
  if (before?.dev === backup.dev && before.ino === backup.ino) {
    throw new StoreNotReady(`${file} is the store itself`);
  }
  mkdirSync(dirname(path), { recursive: true });
  // It holds the lock until the new file is in place, so that no service starts meanwhile.
  const lock = before && (await lockStore(path));
  const draft = `${path}.${process.pid}.part`;
  try {
    await copyBackup(file, draft, onProgress);
    takeOwner(draft, before ?? backup);
    sync(draft);
    const kept = before && keep(path);
    renameSync(draft, path);
    sync(dirname(path));
    return kept;
  } catch (error) {
    throw toCopyError(error, file, path);
  } finally {
    removeDatabase(draft);
    lock?.close();
  }
}

/**
 * Locks a store against all other processes, and moves what its log holds into the file. In WAL mode an open connection
 * holds a shared lock, also while it is idle, so this fails while a service runs.
 *
 * @returns the connection that holds the lock; undefined when the file is so damaged that SQLite does not open it
 */
async function lockStore(path: string): Promise<DatabaseSync | undefined> {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    await whileBusy(() => database.exec('pragma journal_mode = delete; begin exclusive'));
    // Another process may have come between the two, and only outside of WAL mode does the second lock out all others.
    if (database.prepare('pragma journal_mode').get()?.journal_mode !== 'delete') throw inUse(path);
    return database;
  } catch (error) {
    database.close();
    if (isDamaged(error)) return undefined;
    throw isBusy(error) ? inUse(path) : toNotReady(error, path);
  }
}

function inUse(path: string): StoreNotReady {
  return new StoreNotReady(`a service, or another program, has the SQLite file ${path} open: stop it first`);
}

async function copyBackup(file: string, draft: string, onProgress: (part: number) => void): Promise<void> {
  const url = pathToFileURL(file);
  // Nobody writes to a file without a log; it may be in a folder that cannot be written.
  if (!existsSync(`${file}-wal`)) url.searchParams.set('immutable', '1');
  using database = new DatabaseSync(url, { readOnly: true });
  try {
    expectBooks(database);
  } catch (error) {
    if (!(error instanceof StoreNotReady)) throw error;
    throw new StoreNotReady(`${file} is not a backup of a store: ${error.message}`);
  }
  await copyDatabase(database, draft, onProgress);
}

/** Gives a file the mode and the owner of another one. */
function takeOwner(path: string, { mode, uid, gid }: Stats): void {
  chmodSync(path, mode);
  const own = statSync(path);
  if (own.uid !== uid || own.gid !== gid) chownSync(path, uid, gid);
}

/** Gives the store at a path another name beside its own. @returns that name */
function keep(path: string): string {
  for (let number = 1; ; number++) {
    const kept = `${path}.before-restore${number === 1 ? '' : `-${number}`}`;
    try {
      linkSync(path, kept);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw error;
    }
    // Only a store that SQLite does not open still has these, which must not be applied to the new file.
    for (const ending of ['-journal', '-wal', '-shm']) {
      if (existsSync(path + ending)) renameSync(path + ending, kept + ending);
    }
    return kept;
  }
}
