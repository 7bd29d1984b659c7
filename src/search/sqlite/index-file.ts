import { closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { isNotOpened } from '../../store/sqlite/errors.ts';
import { takeOverCheckpoints } from '../../store/sqlite/files/connection.ts';
import { identityOf } from '../../store/sqlite/files/file-guard.ts';
import { copyPermissions } from '../../store/sqlite/files/permissions.ts';
import { UnusableIndex } from '../index-wait.ts';

/** In the header of the file: "bkSI" (sqlite.org/pragma.html#pragma_application_id). */
const APPLICATION_ID = 0x626b5349;

/** SQLite blocks the thread for so long while another one has a lock. */
const BLOCKING_MS = 10;

/**
 * The file of the search index: it has the name of the store with `-search` behind it, so that all processes find the same one. A
 * file of this name that is not marked as ours is left alone: a store may be named `books.db-search`.
 */
export class IndexFile {
  readonly database: DatabaseSync;
  /** Writes the WAL to the file if it has grown. */
  readonly checkpoint: () => void;
  readonly #path: string;
  readonly #identity: string | undefined;

  private constructor(path: string, cacheKib: number) {
    expectOurs(path);
    this.#path = path;
    this.#identity = identityOf(path);
    const url = pathToFileURL(path);
    url.searchParams.set('mode', 'rw');
    this.database = new DatabaseSync(url, { timeout: BLOCKING_MS });
    try {
      // Before the WAL, so that the mark is in the file itself.
      if (statSync(path).size === 0) this.database.exec(`pragma application_id = ${APPLICATION_ID}`);
      this.database.exec(
        `pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = -${cacheKib}`,
      );
      this.checkpoint = takeOverCheckpoints(this.database);
    } catch (error) {
      this.database.close();
      throw error;
    }
  }

  /** The path of the index of an open store, whatever link it was opened by. */
  static pathOf(store: DatabaseSync): string {
    return `${store.location()}-search`;
  }

  /**
   * Opens the index, which is created empty if there is none.
   *
   * @param cacheKib the most memory for its pages
   * @throws UnusableIndex when there is another file of this name
   */
  static open(store: DatabaseSync, cacheKib: number): IndexFile {
    const path = IndexFile.pathOf(store);
    if (!existsSync(path)) create(path, store);
    return new IndexFile(path, cacheKib);
  }

  /** Whether there is no file of its name any more, or another one. */
  get isReplaced(): boolean {
    return identityOf(this.#path) !== this.#identity;
  }

  close(): void {
    if (this.database.isOpen) this.database.close();
  }

  /** Deletes the file if it is still this one. */
  delete(): void {
    this.close();
    if (!this.isReplaced) deleteFiles(this.#path);
  }

  /** Deletes an index that cannot be opened. @throws UnusableIndex when it is another file */
  static deleteUnopened(store: DatabaseSync): void {
    const path = IndexFile.pathOf(store);
    if (!existsSync(path)) return;
    expectOurs(path);
    deleteFiles(path);
  }
}

function deleteFiles(path: string): void {
  for (const suffix of ['-wal', '-shm', '']) rmSync(`${path}${suffix}`, { force: true });
}

/** @throws UnusableIndex */
function expectOurs(path: string): void {
  if (statSync(path).size === 0) return;
  const url = pathToFileURL(path);
  // Neither locks the file nor creates a log beside it. To close it otherwise than by SQLite would end the locks of this process.
  url.searchParams.set('immutable', '1');
  let id: unknown;
  try {
    using file = new DatabaseSync(url, { readOnly: true, defensive: false });
    // So SQLite reads the mark of a file that has lost its end.
    file.exec('pragma writable_schema = on');
    id = file.prepare('pragma application_id').get()?.application_id;
  } catch (error) {
    // Otherwise, it is no database.
    if (isNotOpened(error)) throw error;
  }
  if (id !== APPLICATION_ID)
    throw new UnusableIndex('a file that is no search index has the name of the search index');
}

/**
 * Creates the file, in a write transaction of the store: so no other process does the same. The log and the shared memory of a file
 * that an operator has deleted must go first: SQLite would shorten the shared memory that other connections still read, which kills
 * their processes by SIGBUS.
 */
function create(path: string, store: DatabaseSync): void {
  store.exec('begin immediate');
  try {
    if (existsSync(path)) return;
    for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
    closeSync(openSync(path, 'wx', 0o600));
    copyPermissions(statSync(store.location() as string), path);
  } catch (error) {
    // The books have another owner, and only root can share the index with them.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  } finally {
    store.exec('rollback');
  }
}
