import { chmodSync, closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import type { OnProgress } from '../../store-engine.ts';
import { StoreNotReady } from '../../store-errors.ts';
import { toNotReady } from '../errors.ts';
import { whileBusy } from './connection.ts';

/** The number of pages copied in one turn of the event loop. */
const PAGES_PER_STEP = 1_000;

/** The suffixes of the files that SQLite keeps beside a database. */
export const SIDE_FILES = ['-journal', '-wal', '-shm'] as const;

/** See {@link Engine.backUp}. */
export async function backUpStore(path: string, file: string, onProgress: OnProgress): Promise<void> {
  if (!existsSync(path)) throw new StoreNotReady(`the SQLite file ${path} does not exist`);
  if (existsSync(file)) throw alreadyThere(file);
  const draft = `${file}.${process.pid}.part`;
  try {
    using database = new DatabaseSync(path, { readOnly: true });
    await copyDatabase(database, draft, onProgress);
    chmodSync(draft, statSync(path).mode);
    sync(draft);
    // Unlike a rename, a link does not overwrite a file that was created concurrently.
    linkSync(draft, file);
    sync(dirname(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw alreadyThere(file);
    throw toCopyError(error, path, file);
  } finally {
    removeDatabase(draft);
  }
}

/**
 * Copies a database to a new file and checks the copy.
 *
 * @throws StoreNotReady when the copy is corrupt; errors of the file system and of SQLite, for {@link toCopyError}
 */
export async function copyDatabase(database: DatabaseSync, draft: string, onProgress: OnProgress) {
  closeSync(openSync(draft, 'wx'));
  // A read transaction keeps the snapshot; without it every write would restart the copy.
  await whileBusy(() => database.exec('begin; select 1 from sqlite_schema'));
  await backup(database, draft, {
    rate: PAGES_PER_STEP,
    progress: ({ totalPages, remainingPages }) => onProgress(1 - remainingPages / totalPages),
  });
  using copy = new DatabaseSync(draft);
  const { integrity_check: verdict } = copy.prepare('pragma integrity_check(1)').get() ?? {};
  if (verdict !== 'ok')
    throw new StoreNotReady('the store is damaged: its copy fails the check of its integrity');
}

/** Removes the files of a database that no process has open. */
export function removeDatabase(path: string): void {
  for (const suffix of ['', ...SIDE_FILES]) rmSync(path + suffix, { force: true });
}

/** Syncs a file, or the entries of a folder. */
export function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function alreadyThere(file: string): StoreNotReady {
  return new StoreNotReady(`${file} is already there, and is not overwritten`);
}

/** An error of copying the database `source` to `target` as one line for operators; a defect as it is. */
export function toCopyError(error: unknown, source: string, target: string): unknown {
  const { code, errcode } = error as NodeJS.ErrnoException & { errcode?: number };
  if (errcode !== undefined) return toNotReady(error, source);
  if (code?.startsWith('E') && !code.startsWith('ERR'))
    return new StoreNotReady(`${target} cannot be written (${code})`);
  return error;
}
