import type { DatabaseSync } from 'node:sqlite';
import { type BookStore, LEFT_OUT, TableRejection, type UpdateFault } from '../../../book/book-store.ts';
import type { Book, BookFields } from '../../../book/contract.ts';
import { createdBook, fingerprintOf } from '../../idempotency.ts';
import { REMOVAL_MS } from '../../limits.ts';
import { toBook, toValues } from '../book-columns.ts';
import { expectBooksIfAny, prepareTables } from '../books-table.ts';
import { closeLast, openConnection, takeOverCheckpoints } from '../files/connection.ts';
import { FileGuard } from '../files/file-guard.ts';
import { transact, transactGuarded } from '../files/transactions.ts';
import { toTableRejection } from '../table-rejections.ts';
import { prepareWriteStatements, type WriteStatements } from '../write-statements.ts';
import { IdempotencyKeys } from './idempotency-keys.ts';
import { ManyBooks } from './many-books.ts';
import { type RequestHandler, serveRequests } from './thread-server.ts';

/** The methods of {@link BookStore} that this thread executes. */
export type WriteVerb =
  | 'create'
  | 'createOnce'
  | 'createMany'
  | 'updateMany'
  | 'update'
  | 'updateExpected'
  | 'delete'
  | 'deleteExpected';
/** Their calls. As objects with an array of arguments, messages take 1.4 times the processor time. */
export type WriteCall<Verb extends WriteVerb = WriteVerb> = {
  readonly [Each in Verb]: readonly [verb: Each, ...args: Parameters<BookStore[Each]>];
}[Verb];
/** Their results. */
export type WriteResult<Verb extends WriteVerb = WriteVerb> = {
  readonly [Each in Verb]: Awaited<ReturnType<BookStore[Each]>>;
}[Verb];
type Writes = {
  readonly [Verb in WriteVerb]: (...args: Parameters<BookStore[Verb]>) => WriteResult<Verb>;
};

/** A batch of calls; or a function `write` in a module, and its argument. */
export type WriteRequest = readonly WriteCall[] | { readonly module: string; readonly argument: unknown };

interface WriteModule {
  readonly write: (database: DatabaseSync, transact: Transact, argument: unknown) => Promise<unknown>;
}

/** Commits what an operation writes, or nothing if it throws. */
export type Transact = <Result>(operation: () => Result) => Promise<Result>;

/**
 * Performs calls of the main thread. The way of a call: `SqliteBookStore` (book-store.ts) puts it into its `BatchQueue`, which calls a
 * `ThreadClient`; here, `serveRequests` (thread-server.ts) calls `handle`, and that `#performAll`, `#perform` and the method of the verb.
 * An error becomes a `TableRejection` here, or `StoreUnavailable` in thread-server.ts, and crosses as a message.
 */
class WriteHandler implements RequestHandler<WriteRequest, unknown>, Writes {
  readonly #database: DatabaseSync;
  readonly #files: FileGuard;
  readonly #keys: IdempotencyKeys;
  readonly #checkpoint: () => void;
  readonly #statements: WriteStatements;
  readonly #manyBooks: ManyBooks;
  readonly #transact: Transact = (operation) => transactGuarded(this.#database, this.#files, operation);
  #removalDueAt = 0;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#files = new FileGuard(path);
    this.#keys = new IdempotencyKeys(database);
    this.#checkpoint = takeOverCheckpoints(database);
    this.#statements = prepareWriteStatements(database);
    this.#manyBooks = new ManyBooks(database, this.#statements, this.#keys);
  }

  async handle(request: WriteRequest): Promise<unknown> {
    try {
      return await ('module' in request ? this.#call(request) : this.#performAll(request));
    } catch (error) {
      // SQLite remembers the id of the last insert, also of a rejected one. Were it beyond the exact numbers, each later `run` would throw,
      // as it returns that id.
      if (error instanceof TableRejection) this.#statements.forgetLastId.run();
      throw error;
    }
  }

  /** Commits all of the calls, or none. */
  async #performAll(calls: readonly WriteCall[]): Promise<WriteResult[]> {
    try {
      return await this.#transact(() => {
        // A statement without triggers makes SQLite notice that the schema has changed. Otherwise, writes would fail for as long as
        // it remembers that a table of a trigger is missing.
        this.#statements.select.get(0);
        return calls.map((call) => this.#perform(call));
      });
    } catch (error) {
      throw toTableRejection(this.#database, error);
    }
  }

  #perform<Verb extends WriteVerb>([verb, ...args]: WriteCall<Verb>): WriteResult<Verb> {
    return (this as Writes)[verb](...args);
  }

  create(fields: BookFields): Book {
    const book = toBook(this.#statements.insert.get(...toValues(fields)));
    if (!book) throw new TableRejection(LEFT_OUT);
    return book;
  }

  createOnce(fields: BookFields, key: string): Book | undefined {
    const fingerprint = fingerprintOf(fields);
    const known = this.#keys.find(key, fingerprint);
    if (known !== undefined) return known === 'other request' ? undefined : createdBook(known, fields);
    const book = this.create(fields);
    this.#keys.add(key, fingerprint, { id: book.id, created: Buffer.from(JSON.stringify(book)) });
    return book;
  }

  createMany(books: readonly Uint8Array[], key?: string): Uint8Array[] | undefined {
    return this.#manyBooks.create(books, key);
  }

  updateMany(updates: readonly Uint8Array[]): Uint8Array[] | UpdateFault {
    return this.#manyBooks.update(updates);
  }

  update(id: number, fields: Partial<BookFields>): Book | undefined {
    return toBook(this.#statements.update.get(...toValues(fields), id));
  }

  updateExpected(expected: Book, fields: Partial<BookFields>): Book | undefined {
    const values = [...toValues(fields), expected.id, ...toValues(expected)];
    return toBook(this.#statements.updateExpected.get(...values));
  }

  delete(id: number): boolean {
    return this.#statements.delete.run(id).changes > 0;
  }

  deleteExpected(expected: Book): boolean {
    return this.#statements.deleteExpected.run(expected.id, ...toValues(expected)).changes > 0;
  }

  async #call({ module, argument }: Exclude<WriteRequest, readonly WriteCall[]>): Promise<unknown> {
    const { write } = (await import(module)) as WriteModule;
    return write(this.#database, this.#transact, argument);
  }

  transfer(response: unknown): ArrayBuffer[] {
    const parts = Array.isArray(response) ? response.flat() : [];
    return parts.flatMap((part) => (part instanceof Uint8Array ? [part.buffer as ArrayBuffer] : []));
  }

  maintain(isIdle: boolean): void {
    // After a response, the files have just been checked.
    if (isIdle) this.#files.check();
    try {
      this.#removeOldKeys();
      this.#checkpoint();
    } catch (error) {
      throw this.#files.toLost(error);
    }
  }

  #removeOldKeys(): void {
    if (performance.now() < this.#removalDueAt) return;
    this.#removalDueAt = performance.now() + REMOVAL_MS;
    if (this.#keys.removeExpired()) this.#removalDueAt = 0;
  }

  /** @throws StoreLost with the connection open: its end would write over the commits of another process with another `-shm` */
  async close(): Promise<void> {
    this.#files.check();
    try {
      await closeLast(this.#database);
    } catch (error) {
      throw this.#files.toLost(error);
    }
  }
}

await serveRequests(async (path) => {
  const database = await openConnection(path, expectBooksIfAny);
  await transact(database, () => prepareTables(database));
  // After a failed fsync of an earlier process, the WAL can be readable but not durable, so it is written again.
  database.exec('pragma wal_checkpoint(truncate)');
  return new WriteHandler(database, path);
});
