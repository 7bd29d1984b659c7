import { chmodSync, closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { StoreNotReady } from '../../store-errors.ts';
import { toNotReady } from '../errors.ts';
import { whileBusy } from './connection.ts';

/** How many pages are copied before the thread does anything else. */
const PAGES_PER_STEP = 1_000;

/** What the names of the files of a database end in, its own first. */
export const FILE_ENDINGS = ['', '-journal', '-wal', '-shm'] as const;

/**
 * Copies the SQLite file at `path` as it is at one moment, also while others write to it, and checks the copy.
 *
 * @param file where it goes; nothing is overwritten
 * @param onProgress is told what part of it is done, from 0 to 1; what it throws ends the copying
 * @throws StoreNotReady when that cannot be done
 */
export async function backUpStore(
  path: string,
  file: string,
  onProgress: (part: number) => void,
): Promise<void> {
  if (!existsSync(path)) throw new StoreNotReady(`the SQLite file ${path} does not exist`);
  if (existsSync(file)) throw alreadyThere(file);
  const draft = `${file}.${process.pid}.part`;
  try {
    using database = new DatabaseSync(path, { readOnly: true });
    await copyDatabase(database, draft, onProgress);
    chmodSync(draft, statSync(path).mode);
    sync(draft);
    // A link does not take the place of a file that has come meanwhile, as a new name would.
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
 * Copies a database into a new file, and checks the copy.
 *
 * @throws StoreNotReady when the copy is damaged; errors of the file system and of SQLite, for {@link toCopyError}
 */
export async function copyDatabase(
  database: DatabaseSync,
  draft: string,
  onProgress: (part: number) => void,
): Promise<void> {
  closeSync(openSync(draft, 'wx'));
  // Within a read transaction the pages stay those of its beginning: otherwise every write would start it again.
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

/** Removes the files of a database that nobody has open. */
export function removeDatabase(path: string): void {
  for (const ending of FILE_ENDINGS) rmSync(path + ending, { force: true });
}

/** Makes a file, or the names in a folder, durable. */
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

/** An error of copying the database `source` to `target` as a line for people; the error itself when it is a defect. */
export function toCopyError(error: unknown, source: string, target: string): unknown {
  const { code, errcode } = error as NodeJS.ErrnoException & { errcode?: number };
  if (errcode !== undefined) return toNotReady(error, source);
  if (code?.startsWith('E') && !code.startsWith('ERR'))
    return new StoreNotReady(`${target} cannot be written (${code})`);
  return error;
}
