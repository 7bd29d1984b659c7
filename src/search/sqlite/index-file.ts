import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { beginForIndex, hasChangeLog } from '../../store/sqlite/change-log.ts';
import { copyPermissions, transact } from '../../store/sqlite/files/connection.ts';
import { hasTable } from '../../store/sqlite/migrations.ts';
import { compareVersions, indexVersion } from '../index-version.ts';
import { INDEX, SELECT_LOG } from './schema.ts';

/** Increment it with every change of the tables or of the trigrams. */
const VERSION = indexVersion(3);

/** Less memory for the pages of the index takes twice the time for searches among a million books. */
const CACHE_KIB = 64 * 1_024;
/** The shortest time until a faulty index is replaced again, as the books themselves may be the cause. */
const REPLACE_MS_MIN = 60_000;

/** In the header of each index: "bkSI" (sqlite.org/pragma.html#pragma_application_id). */
const APPLICATION_ID = 0x626b5349;

/** Indexes of version 0.1.0 have no application id, but no other database has these four tables. */
const IS_INDEX = `
  select 1 from pragma_application_id, pragma_user_version
  where (application_id, user_version) = (?, ?) or application_id = 0 and 4 = (
    select count(*) from sqlite_schema
    where type = 'table' and name in ('book_search_state', 'book_search', 'book_words', 'book_trigrams')
  )
`;

const IS_ATTACHED = "select 1 from pragma_database_list where name = 'search'";

/** The index does not fit the books, or this version of the service. */
export class UnfitIndex extends Error {}

interface Entry {
  readonly name: string;
  readonly version: string;
}

/**
 * The file of the index, beside that of the books, for all processes that serve the books. The database has its name. Example: the
 * table `book_search_index` has the name 1f9c02ab, and a process finds the file `books.db-search-1f9c02ab` damaged. It creates
 * `books.db-search-77aa00cd`, writes this name into the table, and deletes the damaged file, which others may still have open: they
 * find another name in the table at their next search, and open the new file.
 */
export class IndexFile {
  readonly #database: DatabaseSync;
  readonly #path: string;
  /** The name of the index that is attached as `search`, or could not be attached. */
  name: string | undefined;
  #replacedAt = -REPLACE_MS_MIN;

  constructor(database: DatabaseSync) {
    this.#database = database;
    // All processes find the same file, whatever link they open the books by.
    this.#path = database.location() as string;
  }

  /**
   * Attaches the current index, which is created if there is none, or only that of an older version.
   *
   * @param fault an error that the attached index has caused
   */
  async attach(fault: unknown): Promise<void> {
    let entry = this.#currentEntry();
    const isFaulty = fault !== undefined && entry?.name === this.name;
    if (isFaulty && performance.now() < this.#replacedAt + REPLACE_MS_MIN) throw fault;
    if (isFaulty) this.#replacedAt = performance.now();
    const age = entry ? compareVersions(entry.version, VERSION) : 1;
    if (age > 0 || (age === 0 && (isFaulty || !existsSync(this.#fileOf(entry?.name ?? '')))))
      entry = await this.#replace(entry?.name);
    if (entry?.version !== VERSION) throw new UnfitIndex('another version');
    this.name = entry.name;
    if (this.#database.prepare(IS_ATTACHED).get()) this.#database.exec('detach search');
    this.#database.prepare('attach ? as search').run(this.#fileOf(entry.name));
    this.#database.exec(`pragma search.synchronous = normal; pragma search.cache_size = -${CACHE_KIB}`);
  }

  #currentEntry(): Entry | undefined {
    if (!hasChangeLog(this.#database) || !hasTable(this.#database, 'book_search_index')) return undefined;
    return this.#database.prepare('select name, version from book_search_index').get() as Entry | undefined;
  }

  #fileOf(name: string): string {
    return `${this.#path}-search-${name}`;
  }

  /** Creates an empty index, unless another process has just done so, and removes the others. */
  async #replace(replaced: string | undefined): Promise<Entry | undefined> {
    const others = await transact(this.#database, () => {
      const entry = this.#currentEntry();
      if (entry && entry.name !== replaced) return [];
      const files = this.#files();
      const name = randomBytes(4).toString('hex');
      beginForIndex(this.#database);
      this.#createFile(name);
      this.#database.prepare('insert into book_search_index values (?, ?)').run(name, VERSION);
      return files;
    });
    for (const file of others) removeIfPossible(file);
    return this.#currentEntry();
  }

  /** The files of all indexes of these books, as far as they can be recognized. */
  #files(): string[] {
    const start = `${basename(this.#path)}-search-`;
    const folder = dirname(this.#path);
    const names = readdirSync(folder)
      .filter((file) => file.startsWith(start))
      .map((file) => file.slice(start.length));
    return names.filter((name) => this.#isIndex(name)).map((name) => this.#fileOf(name));
  }

  /** Whether a file is an index by its name and its content: a store may be named `books.db-search-1f9c02ab`. */
  #isIndex(name: string): boolean {
    if (!/^[0-9a-f]{8}$/.test(name)) return false;
    const url = pathToFileURL(this.#fileOf(name));
    // Neither locks the file nor creates a log beside it.
    url.searchParams.set('immutable', '1');
    try {
      using file = new DatabaseSync(url, { readOnly: true });
      return file.prepare(IS_INDEX).get(APPLICATION_ID, numberOf(name)) !== undefined;
    } catch {
      return false;
    }
  }

  #createFile(name: string): void {
    const file = this.#fileOf(name);
    closeSync(openSync(file, 'wx', 0o600));
    try {
      this.#shareFile(file);
      this.#fill(file, name);
    } catch (error) {
      removeIfPossible(file);
      throw error;
    }
  }

  /** If the books have another owner, only a process of root can share the index with those of the owner. */
  #shareFile(file: string): void {
    try {
      copyPermissions(statSync(this.#path), file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
    }
  }

  #fill(file: string, name: string): void {
    using index = new DatabaseSync(file);
    index.exec(`pragma journal_mode = wal; begin; ${INDEX}`);
    index.exec(`pragma application_id = ${APPLICATION_ID}; pragma user_version = ${numberOf(name)}`);
    const { newestChange, start, token } = this.#database.prepare(SELECT_LOG).get({
      start: null,
      token: null,
      lastId: null,
      lastChange: null,
    }) as { newestChange: number; start: number; token: string };
    index
      .prepare('insert into book_search_state (last_id, last_change, start, token) values (-1e300, ?, ?, ?)')
      .run(newestChange, start, token);
    index.exec('commit');
  }
}

/** The number that an index has in its header, so that a copy under another name is not taken for the index of that name. */
function numberOf(name: string): number {
  return Number.parseInt(name, 16) | 0;
}

/** Removes an index with its logs. On Windows a file that is open cannot be removed; the next replacement removes it. */
function removeIfPossible(file: string): void {
  try {
    for (const suffix of ['-wal', '-shm', '']) rmSync(`${file}${suffix}`, { force: true });
  } catch {}
}
