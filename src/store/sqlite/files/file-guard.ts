import { existsSync, openSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { isSyncFailure } from '../errors.ts';

/** Acknowledged writes may be lost, so no more may be acknowledged. The message is one line. */
export class StoreLost extends Error {
  override readonly name = 'StoreLost';
}

/**
 * Detects what makes a store lost: a failed sync, and deleted or replaced files, to which SQLite itself keeps writing
 * (sqlite.org/howtocorrupt.html, section 2.4).
 */
export class FileGuard {
  readonly #files: readonly GuardedFile[];
  readonly #walIndex: GuardedFile;
  /** Once the store is lost. It stays so: later commits could succeed. */
  #loss: StoreLost | undefined;

  /** @param path the SQLite file, already opened in WAL mode and written to, so that its WAL exists, and its index `-shm` */
  constructor(path: string) {
    // SQLite puts the WAL beside the file that a symbolic link leads to.
    const wal = `${realpathSync(path)}-wal`;
    // Processes that have different ones write over each other's commits in the same WAL. It has the locks of SQLite, so it is
    // not opened; it is never synced, so stat(2) is harmless.
    const walIndex = `${realpathSync(path)}-shm`;
    this.#walIndex = guard(walIndex, () => identityOf(walIndex));
    this.#files = [
      guard(path, () => identityOf(path)),
      guard(wal, existsSync(OPEN_FILES) ? nameReader(wal) : () => identityOf(wal)),
      this.#walIndex,
    ];
  }

  /**
   * @throws StoreLost when the store is lost already, or one of the files was deleted or replaced, or cannot be checked; nothing else, as
   *   it follows commits
   */
  check(): void {
    this.#compare(...this.#files);
  }

  /**
   * Once a transaction has the lock, before its commit: with another `-shm`, it would overwrite those that another process has
   * acknowledged.
   *
   * @throws StoreLost
   */
  checkUnderLock(): void {
    this.#compare(this.#walIndex);
  }

  /** An error of a transaction or a checkpoint: StoreLost after a failed sync, otherwise the error itself. */
  toLost(error: unknown): unknown {
    if (!isSyncFailure(error)) return error;
    this.#loss ??= new StoreLost('the disk has failed to make a change durable (fsync)');
    return this.#loss;
  }

  #compare(...files: readonly GuardedFile[]): void {
    const replaced = files.find(({ read, identity }) => identify(read) !== identity);
    if (replaced)
      this.#loss ??= new StoreLost(`the file ${replaced.path} was deleted or replaced under the service`);
    if (this.#loss) throw this.#loss;
  }
}

interface GuardedFile {
  readonly path: string;
  readonly read: Identify;
  readonly identity: unknown;
}

function guard(path: string, read: Identify): GuardedFile {
  return { path, read, identity: read() };
}

/** Linux has it, where /proc is mounted. */
const OPEN_FILES = '/proc/self/fd';

type Identify = () => string | undefined;

/**
 * Reads the name of a file that stays open: Linux adds `(deleted)` to it once the file was deleted or replaced (proc(5)).
 *
 * Not by stat(2), after which Linux (from 6.13 on) gives the next write to the file a new time that the next sync has to make
 * durable, too: with it, a commit took 180 µs instead of 130. For the SQLite file it is harmless, as a commit does not write to it,
 * and SQLite's locks would be lost with a second descriptor (sqlite.org/howtocorrupt.html, section 2.2).
 */
function nameReader(file: string): Identify {
  const link = `${OPEN_FILES}/${openSync(file, 'r')}`;
  return () => readlinkSync(link);
}

function identify(read: Identify): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Device and inode of the file at a path, which change when it is replaced; undefined when there is no file. */
export function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path);
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
}
