import { existsSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Book, BookFields } from '../../book/book.ts';
import { StoreUnavailable } from '../../book/book-store-interface.ts';
import { type BookArchive, conflictOutcome, type InsertOutcome } from '../book-archive.ts';
import { type PageRow, readPages } from '../page.ts';
import { IdsExhausted, StoreNotReady } from '../store-errors.ts';
import { isConstraintViolation, isSyncFailure, toNotReady, toStoreError } from './errors.ts';
import {
  expectWritable,
  LOG_PAGES_MAX,
  makeFolderOf,
  openConnection,
  transact,
  whileBusy,
} from './files/connection.ts';
import { FileGuard, StoreLost } from './files/file-guard.ts';
import { expectBooks, expectNoMisfit, prepareSchema } from './schema.ts';
import { INSERT_PLAIN, INSERT_WITH_ID, SELECT, SELECT_PAGE } from './sql.ts';

/**
 * Opens the SQLite file at `path` for reading, without a change to it.
 *
 * @throws StoreNotReady when there is none, or it cannot be read
 */
export async function openArchiveForReading(path: string): Promise<BookArchive> {
  if (!existsSync(path)) throw new StoreNotReady(`the SQLite file ${path} does not exist`);
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    await whileBusy(() => expectBooks(database));
    return new SqliteArchive(database);
  } catch (error) {
    throw toNotReady(error, path);
  }
}

/**
 * Opens the SQLite file at `path`, which is created with its folder when missing.
 *
 * @throws StoreNotReady when the file cannot be opened, written or prepared
 */
export async function openArchive(path: string): Promise<BookArchive> {
  try {
    makeFolderOf(path);
    expectWritable(path);
    const database = await openConnection(path, expectNoMisfit);
    await transact(database, () => prepareSchema(database));
    // SQLite does not tell when a checkpoint of its own fails, so they are made here.
    database.exec('pragma wal_autocheckpoint = 0');
    return new SqliteArchive(database, new FileGuard(path));
  } catch (error) {
    throw toNotReady(error, path);
  }
}

class SqliteArchive implements BookArchive {
  readonly #database: DatabaseSync;
  readonly #files: FileGuard | undefined;
  readonly #selectPage: StatementSync;
  readonly #select: StatementSync;
  readonly #insert: StatementSync;
  readonly #insertWithId: StatementSync;
  readonly #extentOfLog: StatementSync;

  /** @param files looks after the files that are written to */
  constructor(database: DatabaseSync, files?: FileGuard) {
    this.#database = database;
    this.#files = files;
    this.#selectPage = database.prepare(SELECT_PAGE);
    this.#select = database.prepare(SELECT);
    this.#insert = database.prepare(INSERT_PLAIN);
    this.#insertWithId = database.prepare(INSERT_WITH_ID);
    this.#extentOfLog = database.prepare('pragma wal_checkpoint(noop)');
  }

  async *pages(): AsyncGenerator<Uint8Array> {
    try {
      await whileBusy(() => this.#database.exec('begin'));
      let after: number | undefined = -Number.MAX_VALUE;
      while (after !== undefined) {
        const [page] = await readPages([after], async (last, limit) => this.#readPage(last, limit));
        if (page && page.json.length > 0) yield page.json;
        after = page?.last;
      }
    } catch (error) {
      throw toStoreError(error);
    } finally {
      if (this.#database.isTransaction) this.#database.exec('rollback');
    }
  }

  add(books: readonly BookFields[]): Promise<void> {
    return this.#write(() => {
      for (const { title, author, year } of books) this.#insert.run(title, author, year);
    });
  }

  addWithIds(books: readonly Book[]): Promise<InsertOutcome[]> {
    return this.#write(() => books.map((book) => this.#addWithId(book)));
  }

  begin(): Promise<void> {
    return this.#report(() => whileBusy(() => this.#database.exec('begin immediate')));
  }

  commit(): Promise<void> {
    return this.#report(() => {
      this.#database.exec('commit');
      this.#settle();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#database.close();
  }

  #readPage(after: number, limit: number): PageRow {
    return this.#selectPage.get({ after, limit }) as unknown as PageRow;
  }

  #addWithId(book: Book): InsertOutcome {
    const { id, title, author, year } = book;
    if (this.#insertWithId.run(id, title, author, year).changes > 0) return 'stored';
    return conflictOutcome(this.#select.get(id) as Book | undefined, book);
  }

  /** Runs an operation in the transaction that was begun, or in one of its own. */
  #write<Result>(operation: () => Result): Promise<Result> {
    return this.#report(async () => {
      if (this.#database.isTransaction) return operation();
      const result = await transact(this.#database, operation);
      this.#settle();
      return result;
    });
  }

  /** Looks after the files, and moves what the log holds into the database when it has grown. */
  #settle(): void {
    this.#files?.check();
    try {
      const { log, checkpointed } = this.#extentOfLog.get() as { log: number; checkpointed: number };
      if (log - checkpointed >= LOG_PAGES_MAX) this.#database.exec('pragma wal_checkpoint(passive)');
    } catch (error) {
      // What else went wrong is tried again: the log still holds what was committed.
      if (isSyncFailure(error)) throw error;
    }
  }

  /** @throws errors in the terms of the interface */
  async #report<Result>(operation: () => Result | Promise<Result>): Promise<Result> {
    try {
      return await operation();
    } catch (error) {
      if (error instanceof StoreLost) throw new StoreUnavailable(error.message);
      // The values are valid, so it can only be the id, when the table has given out the last one.
      throw isConstraintViolation(error) ? new IdsExhausted() : toStoreError(error);
    }
  }
}
