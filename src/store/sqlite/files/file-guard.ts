import { statSync } from 'node:fs';

/** Acknowledged writes may be lost, so no more may be acknowledged. The message is one line. */
export class StoreLost extends Error {
  override readonly name = 'StoreLost';
}

/** Detects deleted or replaced files: SQLite itself keeps writing to them (sqlite.org/howtocorrupt.html, section 2.4). */
export class FileGuard {
  readonly #identities: ReadonlyMap<string, string | undefined>;

  /** @param path the SQLite file, already opened in WAL mode and written to, so that its WAL exists */
  constructor(path: string) {
    this.#identities = new Map([path, `${path}-wal`].map((file) => [file, identityOf(file)]));
  }

  /** @throws StoreLost when one of the files was deleted or replaced */
  check(): void {
    for (const [file, identity] of this.#identities) {
      if (identityOf(file) !== identity)
        throw new StoreLost(`the file ${file} was deleted or replaced under the service`);
    }
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
