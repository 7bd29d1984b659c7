import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { type Book, type BookFields, type BookPage, type BookStore, StoreUnavailable } from '../../book.ts';
import { Batch, type BatchOptions } from '../batch.ts';
import { QUEUE_ITEMS_MAX, TRIP_ITEMS_MAX } from '../limits.ts';
import { StoreNotReady } from '../not-ready.ts';
import { type PageRow, readPages } from '../page.ts';
import { openConnection, whileBusy } from './connection.ts';
import { codeOf, isConstraintViolation, toStoreError } from './errors.ts';
import { prepareSchema } from './schema.ts';
import { DELETE, INSERT, SELECT, SELECT_PAGE, UPDATE } from './sql.ts';

/**
 * Opens the SQLite file at `path`, which is created with its folder when missing.
 *
 * @throws StoreNotReady when the file cannot be opened, written or prepared
 */
export async function openSqliteStore(path: string): Promise<BookStore> {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const writer = await openConnection(path);
    try {
      await transact(writer, () => prepareSchema(writer));
      return new SqliteBookStore(writer, await openConnection(path));
    } catch (error) {
      writer.close();
      throw error;
    }
  } catch (error) {
    if (error instanceof StoreNotReady) throw error;
    throw new StoreNotReady(`the SQLite file ${path} cannot be opened or prepared (${codeOf(error)})`);
  }
}

/**
 * One connection writes: all writes of a turn of the event loop are one transaction with one fsync. Another one
 * reads: all reads of a turn are one read transaction, side by side, which also keeps the processor's caches warm.
 */
class SqliteBookStore implements BookStore {
  readonly #writer: DatabaseSync;
  readonly #reader: DatabaseSync;
  readonly #writes: Batch<() => unknown, unknown>;
  readonly #finds: Batch<number, Book | undefined>;
  readonly #lists: Batch<number, BookPage>;
  readonly #insert: StatementSync;
  readonly #select: StatementSync;
  readonly #selectPage: StatementSync;
  readonly #update: StatementSync;
  readonly #delete: StatementSync;

  constructor(writer: DatabaseSync, reader: DatabaseSync) {
    this.#writer = writer;
    this.#reader = reader;
    this.#writes = new Batch((writes) => this.#commit(writes), BOUNDS);
    this.#finds = new Batch(async (ids) => this.#read(() => ids.map((id) => this.#find(id))), BOUNDS);
    this.#lists = new Batch(
      (afters) => readPages(afters, (after, limit) => this.#read(() => this.#renderPage(after, limit))),
      BOUNDS,
    );
    this.#insert = writer.prepare(INSERT);
    this.#select = reader.prepare(SELECT);
    this.#selectPage = reader.prepare(SELECT_PAGE);
    this.#update = writer.prepare(UPDATE);
    this.#delete = writer.prepare(DELETE);
  }

  create({ title, author, year }: BookFields): Promise<Book> {
    return this.#write(() => {
      try {
        return this.#insert.get(title, author, year) as unknown as Book;
      } catch (error) {
        // The fields are valid, so it is the id: the table has given out the last one.
        throw isConstraintViolation(error) ? new StoreUnavailable('ids are used up') : error;
      }
    });
  }

  find(id: number): Promise<Book | undefined> {
    return this.#finds.call(id);
  }

  list(after = -Number.MAX_VALUE): Promise<BookPage> {
    return this.#lists.call(after);
  }

  update(id: number, { title, author, year }: Partial<BookFields>): Promise<Book | undefined> {
    return this.#write(
      () => this.#update.get(title ?? null, author ?? null, year ?? null, id) as Book | undefined,
    );
  }

  delete(id: number): Promise<boolean> {
    return this.#write(() => this.#delete.run(id).changes > 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#writes.close(), this.#finds.close(), this.#lists.close()]);
    if (this.#reader.isOpen) this.#reader.close();
    if (this.#writer.isOpen) this.#writer.close();
  }

  #write<Result>(operation: () => Result): Promise<Result> {
    return this.#writes.call(operation) as Promise<Result>;
  }

  /** One trip of the writer: all of it is committed, or nothing. */
  async #commit(writes: readonly (() => unknown)[]): Promise<unknown[]> {
    try {
      return await transact(this.#writer, () => writes.map((write) => write()));
    } catch (error) {
      throw toStoreError(error);
    }
  }

  #find(id: number): Book | undefined {
    return this.#select.get(id) as Book | undefined;
  }

  #renderPage(after: number, limit: number): PageRow {
    return this.#selectPage.get({ after, limit }) as unknown as PageRow;
  }

  /** A read transaction: its locks cost more than a read, so many share them. */
  #read<Result>(query: () => Result): Result {
    try {
      this.#reader.exec('begin');
      try {
        return query();
      } finally {
        if (this.#reader.isTransaction) this.#reader.exec('rollback');
      }
    } catch (error) {
      throw toStoreError(error);
    }
  }
}

const BOUNDS = {
  tripItemsMax: TRIP_ITEMS_MAX,
  queueItemsMax: QUEUE_ITEMS_MAX,
  gather: endOfTurn,
} satisfies BatchOptions<unknown>;

/** Runs an operation in a write transaction; when it throws, nothing has happened. */
async function transact<Result>(database: DatabaseSync, operation: () => Result): Promise<Result> {
  await whileBusy(() => database.exec('begin immediate'));
  try {
    const result = operation();
    database.exec('commit');
    return result;
  } catch (error) {
    // Some errors have already rolled it back.
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
}
