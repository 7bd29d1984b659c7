import { chmodSync, closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { StoreNotReady } from '../not-ready.ts';
import { whileBusy } from './connection.ts';
import { toNotReady } from './errors.ts';

/** How many pages are copied before the thread does anything else. */
const PAGES_PER_STEP = 1_000;

/**
 * Copies the SQLite file at `path` as it is at one moment, also while others write to it, and checks the copy.
 *
 * @param file where it goes; nothing is overwritten
 * @param onProgress is told what part of it is done, from 0 to 1; what it throws ends the copying
 * @throws StoreNotReady when that cannot be done
 */
export async function backUpSqliteStore(
  path: string,
  file: string,
  onProgress: (part: number) => void,
): Promise<void> {
  if (!existsSync(path)) throw new StoreNotReady(`the SQLite file ${path} does not exist`);
  if (existsSync(file)) throw alreadyThere(file);
  const draft = `${file}.${process.pid}.part`;
  try {
    closeSync(openSync(draft, 'wx'));
    await copy(path, draft, onProgress);
    expectIntegrity(draft);
    chmodSync(draft, statSync(path).mode);
    sync(draft);
    // A link does not take the place of a file that has come meanwhile, as a new name would.
    linkSync(draft, file);
    sync(dirname(file));
  } catch (error) {
    throw toBackupError(error, path, file);
  } finally {
    for (const ending of ['', '-journal', '-wal', '-shm']) rmSync(draft + ending, { force: true });
  }
}

async function copy(path: string, draft: string, onProgress: (part: number) => void): Promise<void> {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    // Within a read transaction the pages stay those of its beginning: otherwise every write would start it again.
    await whileBusy(() => database.exec('begin; select 1 from sqlite_schema'));
    await backup(database, draft, {
      rate: PAGES_PER_STEP,
      progress: ({ totalPages, remainingPages }) => onProgress(1 - remainingPages / totalPages),
    });
  } finally {
    database.close();
  }
}

function expectIntegrity(path: string): void {
  const database = new DatabaseSync(path);
  try {
    const { integrity_check: verdict } = database.prepare('pragma integrity_check(1)').get() ?? {};
    if (verdict !== 'ok')
      throw new StoreNotReady('the store is damaged: its copy fails the check of its integrity');
  } finally {
    database.close();
  }
}

/** Makes a file, or the names in a folder, durable. */
function sync(path: string): void {
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

function toBackupError(error: unknown, path: string, file: string): unknown {
  const { code, errcode } = error as NodeJS.ErrnoException & { errcode?: number };
  if (code === 'EEXIST') return alreadyThere(file);
  if (errcode !== undefined) return toNotReady(error, path);
  if (code?.startsWith('E') && !code.startsWith('ERR'))
    return new StoreNotReady(`${file} cannot be written (${code})`);
  return error;
}
