import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { OnProgress } from '../../engine.ts';
import { StoreNotReady } from '../../errors.ts';
import { expectBooks } from '../books-table.ts';
import { isBusy, isDamaged, toNotReady } from '../errors.ts';
import { copyPermissions, makeFolderOf } from './permissions.ts';
import { whileBusy } from './transactions.ts';

/** The number of pages copied in one turn of the event loop. */
const PAGES_PER_STEP = 1_000;

const LOGS = ['-journal', '-wal'] as const;
const SIDE_FILES = [...LOGS, '-shm'] as const;

/** See `Engine.backUp`. */
export async function backUpStore(path: string, file: string, onProgress: OnProgress): Promise<void> {
  if (!existsSync(path)) throw new StoreNotReady(`the SQLite file ${path} does not exist`);
  if (isSideFile(file, path))
    throw new StoreNotReady(
      `${file} has the name of a file that SQLite or the search index keeps beside the store`,
    );
  if (existsSync(file)) throw alreadyThere(file);
  expectNoLog(file);
  const draft = createDraft(file);
  try {
    using database = new DatabaseSync(path, { readOnly: true });
    await copyDatabase(database, draft, 'the store', onProgress);
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
 * Whether a file has the name of one that belongs to the store: SQLite would apply it, the service delete it. It is against the
 * honest accident, a backup with such a name.
 */
function isSideFile(file: string, path: string): boolean {
  const folder = dirname(file);
  if (!existsSync(folder)) return false;
  const target = join(realpathSync(folder), basename(file));
  // Beside the file that a symbolic link leads to, and beside the link.
  const stores = [realpathSync(path), join(realpathSync(dirname(path)), basename(path))];
  return stores.some((store) => target.startsWith(store) && SIDE_SUFFIX.test(target.slice(store.length)));
}

const SIDE_SUFFIX = /^-(journal|wal|shm|search(-.*)?)$/i;

/** @throws StoreNotReady when a file that was deleted has left a log: SQLite would apply it to the new one */
function expectNoLog(path: string): void {
  const left = LOGS.map((suffix) => path + suffix).find(
    (file) => existsSync(file) && statSync(file).size > 0,
  );
  if (left !== undefined) throw new StoreNotReady(`${left} is left of another file: move it away first`);
}

/** Fails while another process has the store open. */
export async function restoreStore(
  path: string,
  file: string,
  onProgress: OnProgress,
): Promise<string | undefined> {
  if (!existsSync(file)) throw new StoreNotReady(`the backup ${file} does not exist`);
  const source = statSync(file);
  const before = existsSync(path) ? statSync(path) : undefined;
  if (before?.dev === source.dev && before.ino === source.ino) {
    throw new StoreNotReady(`${file} is the store itself`);
  }
  if (!before) expectNoLog(path);
  makeFolderOf(path);
  // Held until the new file is in place, so that no service starts meanwhile.
  const lock = before && (await lockStore(path));
  let draft: string | undefined;
  try {
    draft = createDraft(path);
    await copyBackup(file, draft, onProgress);
    copyPermissions(before ?? source, draft);
    sync(draft);
    const kept = before && keep(path);
    if (before) renameSync(draft, path);
    else linkSync(draft, path);
    sync(dirname(path));
    return kept;
  } catch (error) {
    throw toCopyError(error, file, path);
  } finally {
    if (draft !== undefined) removeDatabase(draft);
    lock?.close();
  }
}

/** Locks a store that no other process has open, and writes its log to the file; undefined if it is too damaged to open. */
async function lockStore(path: string): Promise<DatabaseSync | undefined> {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    await whileBusy(() => database.exec('pragma journal_mode = delete; begin exclusive'));
    // Another process may have switched back to WAL mode, in which `begin exclusive` does not lock out readers.
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

async function copyBackup(file: string, draft: string, onProgress: OnProgress): Promise<void> {
  const url = pathToFileURL(file);
  // A file without a log has no writers; as `immutable` it can be opened in a read-only folder.
  if (!existsSync(`${file}-wal`)) url.searchParams.set('immutable', '1');
  using database = new DatabaseSync(url, { readOnly: true });
  try {
    expectBooks(database);
  } catch (error) {
    if (!(error instanceof StoreNotReady)) throw error;
    throw new StoreNotReady(`${file} is not a backup of a store: ${error.message}`);
  }
  await copyDatabase(database, draft, file, onProgress);
}

/** Links the store to a second name, and returns it. */
function keep(path: string): string {
  for (let number = 1; ; number++) {
    const kept = `${path}.before-restore${number === 1 ? '' : `-${number}`}`;
    if (SIDE_FILES.some((suffix) => existsSync(kept + suffix))) continue;
    try {
      linkSync(path, kept);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw error;
    }
    // Only a damaged store still has these; SQLite must not apply them to the new file.
    for (const suffix of SIDE_FILES) {
      if (existsSync(path + suffix)) renameSync(path + suffix, kept + suffix);
    }
    return kept;
  }
}

/** Creates an empty file beside another one, and never opens one that is there. @throws StoreNotReady */
function createDraft(path: string): string {
  const draft = `${path}.${randomBytes(4).toString('hex')}.part`;
  try {
    closeSync(openSync(draft, 'wx'));
    return draft;
  } catch (error) {
    throw toCopyError(error, path, path);
  }
}

/**
 * Copies a database to an empty file and checks the copy.
 *
 * @param name of the database, for messages
 * @throws errors for {@link toCopyError}
 */
async function copyDatabase(database: DatabaseSync, draft: string, name: string, onProgress: OnProgress) {
  // A read transaction keeps the snapshot; without it every write would restart the copy.
  await whileBusy(() => database.exec('begin; select 1 from sqlite_schema'));
  await backup(database, draft, {
    rate: PAGES_PER_STEP,
    progress: ({ totalPages, remainingPages }) => onProgress(1 - remainingPages / totalPages),
  });
  using copy = new DatabaseSync(draft);
  const { integrity_check: verdict } = copy.prepare('pragma integrity_check(1)').get() ?? {};
  if (verdict !== 'ok')
    throw new StoreNotReady(`${name} is damaged: its copy fails the check of its integrity`);
}

function removeDatabase(path: string): void {
  for (const suffix of ['', ...SIDE_FILES]) rmSync(path + suffix, { force: true });
}

/** Windows syncs only files that are open for writing, and no folders. */
function sync(path: string): void {
  const isWindows = process.platform === 'win32';
  if (isWindows && statSync(path).isDirectory()) return;
  const descriptor = openSync(path, isWindows ? 'r+' : 'r');
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
function toCopyError(error: unknown, source: string, target: string): unknown {
  const { code, errcode } = error as NodeJS.ErrnoException & { errcode?: number };
  if (errcode !== undefined) return toNotReady(error, source);
  if (code?.startsWith('E') && !code.startsWith('ERR'))
    return new StoreNotReady(`${target} cannot be written (${code})`);
  return error;
}
