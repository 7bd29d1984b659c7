import { statSync } from 'node:fs';

/** The identity of no file. */
export const NO_FILE = 'none';

/** What was acknowledged could be lost, or already is: nothing more may be acknowledged. The message is one line. */
export class StoreLost extends Error {
  override readonly name = 'StoreLost';
}

/**
 * Notices that the files of a database are not those that were opened: SQLite itself goes on writing into files that
 * were deleted or replaced, where nobody will find it (sqlite.org/howtocorrupt.html, section 2.4).
 */
export class FileGuard {
  readonly #paths: readonly string[];
  readonly #identities: readonly string[];

  /** @param path the SQLite file, opened in WAL mode and written to, so that its log is there as well */
  constructor(path: string) {
    this.#paths = [path, `${path}-wal`];
    this.#identities = this.#paths.map(identityOf);
  }

  /** @throws StoreLost when one of them was deleted or replaced */
  check(): void {
    for (const [index, path] of this.#paths.entries()) {
      if (identityOf(path) !== this.#identities[index]) {
        throw new StoreLost(`the file ${path} was deleted or replaced under the service`);
      }
    }
  }
}

/** The identity of the file at a path: another one after it was replaced; `none` when there is no file. */
export function identityOf(path: string): string {
  try {
    const { dev, ino } = statSync(path);
    return `${dev} ${ino}`;
  } catch {
    return NO_FILE;
  }
}
