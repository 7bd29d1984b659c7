import { existsSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { changesOf } from '../../book/book.ts';
import { LEFT_OUT, type ListPage, StoreUnavailable, TableRejection } from '../../book/book-store.ts';
import type { Book, BookFields } from '../../book/contract.ts';
import { type BookArchive, type ChangedBook, conflictOutcome, type InsertOutcome } from '../book-archive.ts';
import { FIELD_LIST } from '../each-field.ts';
import { StoreNotReady } from '../errors.ts';
import { type PageRequest, toPageRequest } from '../page.ts';
import { FIELD_PARAMETERS, prepareBook, SELECT, toBook, toValues } from './book-columns.ts';
import { expectAllColumns, expectBooks, expectBooksIfAny, prepareTables } from './books-table.ts';
import { toNotReady, toStoreError } from './errors.ts';
import { closeLast, openConnection, takeOverCheckpoints } from './files/connection.ts';
import { FileGuard, StoreLost } from './files/file-guard.ts';
import { expectWritable, makeFolderOf } from './files/permissions.ts';
import { transact, whileBusy } from './files/transactions.ts';
import { preparePages } from './pages.ts';
import { toTableRejection } from './table-rejections.ts';
import { UPDATE_EXPECTED } from './write-statements.ts';

/** See `Engine.openArchiveForReading`. */
export async function openArchiveForReading(path: string): Promise<BookArchive> {
  if (!existsSync(path)) throw new StoreNotReady(`the SQLite file ${path} does not exist`);
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    await whileBusy(() => expectBooks(database));
    // Only a start adds those of this version.
    expectAllColumns(database);
    return new SqliteArchive(database);
  } catch (error) {
    throw toNotReady(error, path);
  }
}

/** The file is created with its folder when missing. */
export async function openArchive(path: string): Promise<BookArchive> {
  try {
    makeFolderOf(path);
    expectWritable(path);
    const database = await openConnection(path, expectBooksIfAny);
    await transact(database, () => prepareTables(database));
    const checkpoint = takeOverCheckpoints(database);
    const files = new FileGuard(path);
    const afterCommit = () => {
      files.check();
      checkpoint();
    };
    return new SqliteArchive(database, () => files.checkUnderLock(), afterCommit);
  } catch (error) {
    throw toNotReady(error, path);
  }
}

class SqliteArchive implements BookArchive {
  readonly #database: DatabaseSync;
  readonly #beforeCommit: () => void;
  readonly #afterCommit: () => void;
  readonly #readPage: (request: PageRequest) => ListPage;
  readonly #select: StatementSync;
  readonly #insert: StatementSync;
  readonly #insertWithId: StatementSync;
  readonly #updateExpected: StatementSync;

  /** @param beforeCommit called when a transaction has the lock */
  constructor(database: DatabaseSync, beforeCommit = () => {}, afterCommit = () => {}) {
    this.#database = database;
    this.#beforeCommit = beforeCommit;
    this.#afterCommit = afterCommit;
    this.#readPage = preparePages(database);
    this.#select = prepareBook(database, SELECT);
    this.#insert = database.prepare(`insert into books (${FIELD_LIST}) values (${FIELD_PARAMETERS})`);
    this.#insertWithId = database.prepare(
      `insert into books (id, ${FIELD_LIST}) values (?, ${FIELD_PARAMETERS}) on conflict (id) do nothing`,
    );
    this.#updateExpected = database.prepare(UPDATE_EXPECTED);
  }

  async *pages(): AsyncGenerator<Uint8Array> {
    try {
      await whileBusy(() => this.#database.exec('begin'));
      let after: number | undefined = -Number.MAX_VALUE;
      while (after !== undefined) {
        const page = this.#readPage(toPageRequest(after));
        if (page.json.length > 0) yield page.json;
        after = page.last;
      }
    } catch (error) {
      throw toStoreError(error);
    } finally {
      if (this.#database.isTransaction) this.#database.exec('rollback');
    }
  }

  add(books: readonly BookFields[]): Promise<void> {
    return this.#write(() => {
      for (const book of books) {
        if (this.#insert.run(...toValues(book)).changes === 0) throw new TableRejection(LEFT_OUT);
      }
    });
  }

  addWithIds(books: readonly Book[]): Promise<InsertOutcome[]> {
    const add = (book: Book) => {
      if (this.#insertWithId.run(book.id, ...toValues(book)).changes > 0) return 'stored';
      const other = toBook(this.#select.get(book.id));
      if (!other) throw new TableRejection(LEFT_OUT);
      return conflictOutcome(other, book);
    };
    return this.#write(() => books.map(add));
  }

  find(ids: readonly number[]): Promise<(Book | undefined)[]> {
    return this.#report(() => whileBusy(() => ids.map((id) => toBook(this.#select.get(id)))));
  }

  update(changes: readonly ChangedBook[]): Promise<boolean[]> {
    return this.#write(() =>
      changes.map(({ before, after }) => {
        const changed = toValues(changesOf(before, after));
        return this.#updateExpected.get(...changed, before.id, ...toValues(before)) !== undefined;
      }),
    );
  }

  begin(): Promise<void> {
    return this.#report(() => whileBusy(() => this.#database.exec('begin immediate')));
  }

  commit(): Promise<void> {
    return this.#report(() => {
      this.#beforeCommit();
      this.#database.exec('commit');
      this.#afterCommit();
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#report(() => closeLast(this.#database));
  }

  /** Runs an operation in the current transaction, or in one of its own. */
  #write<Result>(operation: () => Result): Promise<Result> {
    return this.#report(async () => {
      if (this.#database.isTransaction) return this.#allOrNone(operation);
      const result = await transact(this.#database, () => {
        this.#beforeCommit();
        return operation();
      });
      this.#afterCommit();
      return result;
    });
  }

  #allOrNone<Result>(operation: () => Result): Result {
    this.#database.exec('savepoint many');
    try {
      return operation();
    } catch (error) {
      // Further books would be stored without those before.
      if (!this.#database.isTransaction)
        throw new StoreUnavailable('a constraint has rolled back the transaction');
      this.#database.exec('rollback to many');
      throw error;
    } finally {
      if (this.#database.isTransaction) this.#database.exec('release many');
    }
  }

  async #report<Result>(operation: () => Result | Promise<Result>): Promise<Result> {
    try {
      return await operation();
    } catch (error) {
      if (error instanceof StoreLost) throw new StoreUnavailable(error.message);
      throw toStoreError(toTableRejection(this.#database, error));
    }
  }
}
