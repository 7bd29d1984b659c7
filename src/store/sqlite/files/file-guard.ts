import { existsSync, statSync } from 'node:fs';

/** Acknowledged writes may be lost, so no more may be acknowledged. The message is one line. */
export class StoreLost extends Error {
  override readonly name = 'StoreLost';
}

/** The interval at which the WAL is compared, and not only looked up. */
const WAL_INTERVAL_MS = 500;

/** Detects deleted or replaced files: SQLite itself keeps writing to them (sqlite.org/howtocorrupt.html, section 2.4). */
export class FileGuard {
  readonly #path: string;
  readonly #wal: string;
  readonly #identity: string | undefined;
  readonly #walIdentity: string | undefined;
  #walDueAt = 0;

  /** @param path the SQLite file, already opened in WAL mode and written to, so that its WAL exists */
  constructor(path: string) {
    this.#path = path;
    this.#wal = `${path}-wal`;
    this.#identity = identityOf(path);
    this.#walIdentity = identityOf(this.#wal);
  }

  /**
   * After each stat(2) of a file, Linux (from 6.13 on) gives its next write a new time, which the next sync has to make durable, too:
   * with one of the WAL for each commit, a commit took 180 µs instead of 130.
   *
   * @throws StoreLost when one of the files was deleted, the SQLite file was replaced, or its WAL was some time ago
   */
  check(): void {
    if (identityOf(this.#path) !== this.#identity) throw lost(this.#path);
    if (!existsSync(this.#wal)) throw lost(this.#wal);
    if (performance.now() < this.#walDueAt) return;
    this.#walDueAt = performance.now() + WAL_INTERVAL_MS;
    if (identityOf(this.#wal) !== this.#walIdentity) throw lost(this.#wal);
  }
}

function lost(file: string): StoreLost {
  return new StoreLost(`the file ${file} was deleted or replaced under the service`);
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
