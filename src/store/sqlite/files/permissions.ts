import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  existsSync,
  mkdirSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { StoreNotReady } from '../../errors.ts';

/** Creates the folders above a file. `mkdirSync` with `recursive` does not return if that fails with ENOENT (/proc). */
export function makeFolderOf(path: string): void {
  const folder = dirname(path);
  if (existsSync(folder)) return;
  makeFolderOf(folder);
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have created it concurrently.
    if (!existsSync(folder)) throw error;
  }
}

/** Gives a file the permissions and the owner of another one. */
export function copyPermissions({ mode, uid, gid }: Stats, path: string): void {
  const own = statSync(path);
  if (own.uid !== uid || own.gid !== gid) chownSync(path, uid, gid);
  chmodSync(path, mode);
}

/**
 * @throws StoreNotReady when a SQLite file, its WAL or the index of that is read-only, which SQLite itself does not report; or its folder,
 *   in which SQLite creates these
 */
export function expectWritable(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const code = whyNotWritable(file);
    if (code) throw new StoreNotReady(`the store is read-only: ${file} cannot be written (${code})`);
  }
  // SQLite follows a symbolic link.
  const folder = dirname(existsSync(path) ? realpathSync(path) : path);
  const code = whyNotWritable(folder);
  if (code)
    throw new StoreNotReady(
      `the folder ${folder} cannot be written (${code}), and SQLite creates files in it beside the store`,
    );
}

/** The code of the error, unless it is writable or does not exist. */
function whyNotWritable(path: string): string | undefined {
  try {
    accessSync(path, constants.W_OK);
    return undefined;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return ['EACCES', 'EPERM', 'EROFS'].includes(code) ? code : undefined;
  }
}
