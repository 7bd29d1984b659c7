import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Book, BookFields } from '../../../book/book.ts';
import { performUntilTextMax } from '../../store-limits.ts';
import { isConstraintViolation, isSyncFailure, toStoreError } from '../errors.ts';
import { LOG_PAGES_MAX, openConnection, transact } from '../files/connection.ts';
import { FileGuard, StoreLost } from '../files/file-guard.ts';
import { expectNoMisfit, prepareSchema } from '../schema.ts';
import {
  DELETE,
  DELETE_EXPECTED,
  INSERT,
  INSERT_MANY,
  SELECT_ABOVE,
  SELECT_HIGHEST_ID,
  UPDATE,
  UPDATE_EXPECTED,
} from '../sql.ts';
import { IdempotencyKeys } from './idempotency-keys.ts';
import { type RequestHandler, serveRequests } from './worker-client.ts';

/**
 * A write, and what it results in: the book as stored, if there is one, whether one was deleted, or that no id was left
 * for it.
 */
export type Write =
  | { readonly verb: 'create'; readonly fields: BookFields; readonly key?: string }
  | { readonly verb: 'create many'; readonly books: readonly Uint8Array[] }
  | {
      readonly verb: 'update';
      readonly id: number;
      readonly changes: Partial<BookFields>;
      readonly expected?: BookFields;
    }
  | { readonly verb: 'delete'; readonly id: number; readonly expected?: BookFields };
export type WriteResult = Book | undefined | boolean | Uint8Array[] | 'ids exhausted';

/** The thread that writes. It prepares the file; then all writes that it is handed at once are one transaction. */
class Writer implements RequestHandler<readonly Write[], WriteResult[]> {
  readonly #database: DatabaseSync;
  readonly #files: FileGuard;
  readonly #keys: IdempotencyKeys;
  readonly #extentOfLog: StatementSync;
  readonly #insert: StatementSync;
  readonly #insertMany: StatementSync;
  readonly #selectHighestId: StatementSync;
  readonly #selectAbove: StatementSync;
  readonly #update: StatementSync;
  readonly #delete: StatementSync;
  readonly #updateExpected: StatementSync;
  readonly #deleteExpected: StatementSync;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#files = new FileGuard(path);
    this.#keys = new IdempotencyKeys(database);
    this.#extentOfLog = database.prepare('pragma wal_checkpoint(noop)');
    this.#insert = database.prepare(INSERT);
    this.#insertMany = database.prepare(INSERT_MANY);
    this.#selectHighestId = database.prepare(SELECT_HIGHEST_ID);
    this.#selectAbove = database.prepare(SELECT_ABOVE);
    this.#update = database.prepare(UPDATE);
    this.#delete = database.prepare(DELETE);
    this.#updateExpected = database.prepare(UPDATE_EXPECTED);
    this.#deleteExpected = database.prepare(DELETE_EXPECTED);
  }

  /** The first of them, until the results are long, are committed, or nothing; there is a result for each of these. */
  async handle(writes: readonly Write[]): Promise<WriteResult[]> {
    try {
      const results = await transact(this.#database, () =>
        performUntilTextMax(writes, (write) => this.#perform(write)),
      );
      this.#files.check();
      return results;
    } catch (error) {
      throw isSyncFailure(error) ? unsynced() : toStoreError(error);
    }
  }

  transfer(results: readonly WriteResult[]): ArrayBuffer[] {
    return results
      .filter((result) => Array.isArray(result))
      .flatMap((pages) => pages.map(({ buffer }) => buffer as ArrayBuffer));
  }

  /** Looks after the files, and moves what the log holds into the database while nobody waits for it. */
  maintain(): void {
    this.#files.check();
    try {
      this.#keys.maintain();
      const { log, checkpointed } = this.#extentOfLog.get() as { log: number; checkpointed: number };
      if (log - checkpointed >= LOG_PAGES_MAX) this.#database.exec('pragma wal_checkpoint(passive)');
    } catch (error) {
      // What else went wrong is tried again: the log still holds it.
      if (isSyncFailure(error)) throw unsynced();
    }
  }

  close(): void {
    this.#database.close();
  }

  #perform(write: Write): WriteResult {
    if (write.verb === 'create' || write.verb === 'create many') {
      try {
        return write.verb === 'create'
          ? this.#createOnce(write.fields, write.key)
          : this.#createMany(write.books);
      } catch (error) {
        // The fields are valid, so it is the id. The engine has undone this insert alone.
        if (isConstraintViolation(error)) return 'ids exhausted';
        throw error;
      }
    }
    const { id, expected } = write;
    const condition = expected ? [expected.title, expected.author, expected.year] : [];
    if (write.verb === 'delete') {
      const statement = expected ? this.#deleteExpected : this.#delete;
      return statement.run(id, ...condition).changes > 0;
    }
    const { title = null, author = null, year = null } = write.changes;
    const statement = expected ? this.#updateExpected : this.#update;
    return statement.get(title, author, year, id, ...condition) as Book | undefined;
  }

  #createOnce(fields: BookFields, key: string | undefined): Book | undefined {
    if (key === undefined) return this.#create(fields);
    const knownId = this.#keys.find(key, fields);
    if (knownId !== undefined) return knownId === null ? undefined : { id: knownId, ...fields };
    const book = this.#create(fields);
    this.#keys.remember(key, fields, book.id);
    return book;
  }

  #create({ title, author, year }: BookFields): Book {
    return this.#insert.get(title, author, year) as unknown as Book;
  }

  /** All of them, or none when there are not ids for all. */
  #createMany(books: readonly Uint8Array[]): Uint8Array[] {
    this.#database.exec('savepoint many');
    try {
      return books.map((array) => {
        const { id } = this.#selectHighestId.get() as { id: number };
        this.#insertMany.run(array);
        return (this.#selectAbove.get(id) as { json: Uint8Array }).json;
      });
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('rollback to many');
      throw error;
    } finally {
      if (this.#database.isTransaction) this.#database.exec('release many');
    }
  }
}

function unsynced(): StoreLost {
  return new StoreLost('the disk has failed to make books durable (fsync)');
}

await serveRequests(async (path) => {
  const database = await openConnection(path, expectNoMisfit);
  await transact(database, () => prepareSchema(database));
  // SQLite does not tell when its own checkpoints fail, so they are made in maintain(). What a process left in the log
  // whose last fsync failed need not be on disk, though it can be read: it is written anew.
  database.exec('pragma wal_autocheckpoint = 0; pragma wal_checkpoint(truncate)');
  return new Writer(database, path);
});
