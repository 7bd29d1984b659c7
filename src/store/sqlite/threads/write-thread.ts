import type { DatabaseSync } from 'node:sqlite';
import type { Book, BookFields, UpdateItem } from '../../../book/book.ts';
import {
  type BookStore,
  LEFT_OUT,
  TableRejection,
  UPDATED_BYTES_MAX,
  type UpdateFault,
} from '../../../book/book-store.ts';
import { entityTag } from '../../../book/entity-tag.ts';
import { createdBook, createdBooks, fingerprintOf, fingerprintOfMany } from '../../idempotency.ts';
import { REMOVAL_MS } from '../../limits.ts';
import { toBook, toUtf8, toValues } from '../book-columns.ts';
import { expectBooksIfAny, prepareTables } from '../books-table.ts';
import {
  closeLast,
  openConnection,
  takeOverCheckpoints,
  transact,
  transactGuarded,
} from '../files/connection.ts';
import { FileGuard } from '../files/file-guard.ts';
import { toRejection } from '../rejections.ts';
import { prepareWriteStatements, type WriteStatements } from '../write-statements.ts';
import { IdempotencyKeys } from './idempotency-keys.ts';
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
 * Performs calls. In the order of the stations of a call of the main thread: `SqliteBookStore` (book-store.ts) puts it into its `BatchQueue`,
 * which calls a `ThreadClient`; here, `serveRequests` (thread-server.ts) calls `handle`, and that `#performAll`, `#perform` and the function of
 * the verb in `#prepareWrites`. An error becomes a `TableRejection` here, or `StoreUnavailable` in thread-server.ts, and crosses as a message.
 */
class WriteHandler implements RequestHandler<WriteRequest, unknown> {
  readonly #database: DatabaseSync;
  readonly #files: FileGuard;
  readonly #keys: IdempotencyKeys;
  readonly #checkpoint: () => void;
  readonly #statements: WriteStatements;
  readonly #writes: Writes;
  readonly #transact: Transact = (operation) => transactGuarded(this.#database, this.#files, operation);
  #removalDueAt = 0;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#files = new FileGuard(path);
    this.#keys = new IdempotencyKeys(database);
    this.#checkpoint = takeOverCheckpoints(database);
    this.#statements = prepareWriteStatements(database);
    this.#writes = this.#prepareWrites(this.#statements);
  }

  async handle(request: WriteRequest): Promise<unknown> {
    try {
      return await ('module' in request ? this.#call(request) : this.#performAll(request));
    } catch (error) {
      // SQLite remembers the id of the last insert, also of a rejected one. Were it beyond the exact numbers, each later `run` would throw,
      // as it returns that id.
      if (error instanceof TableRejection) this.#statements.replaceLastId.run();
      throw error;
    }
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

  /** @throws StoreLost with the connection open: its end would write over the commits of another process with another `-shm` */
  async close(): Promise<void> {
    this.#files.check();
    try {
      await closeLast(this.#database);
    } catch (error) {
      throw this.#files.toLost(error);
    }
  }

  async #call({ module, argument }: Exclude<WriteRequest, readonly WriteCall[]>): Promise<unknown> {
    const { write } = (await import(module)) as WriteModule;
    return write(this.#database, this.#transact, argument);
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
      throw toRejection(this.#database, error);
    }
  }

  #removeOldKeys(): void {
    if (performance.now() < this.#removalDueAt) return;
    this.#removalDueAt = performance.now() + REMOVAL_MS;
    if (this.#keys.removeExpired()) this.#removalDueAt = 0;
  }

  #perform<Verb extends WriteVerb>([verb, ...args]: WriteCall<Verb>): WriteResult<Verb> {
    return this.#writes[verb](...args);
  }

  #prepareWrites(statements: WriteStatements): Writes {
    return {
      create: (fields) => this.#insert(fields),
      createOnce: (fields, key) => this.#createOnce(fields, key),
      createMany: (books, key) => this.#createMany(books, key),
      updateMany: (updates) => this.#updateMany(updates),
      update: (id, fields) => toBook(statements.update.get(...toValues(fields), id)),
      updateExpected: (expected, fields) => {
        const values = [...toValues(fields), expected.id, ...toValues(expected)];
        return toBook(statements.updateExpected.get(...values));
      },
      delete: (id) => statements.delete.run(id).changes > 0,
      deleteExpected: (expected) =>
        statements.deleteExpected.run(expected.id, ...toValues(expected)).changes > 0,
    };
  }

  #createOnce(fields: BookFields, key: string): Book | undefined {
    const fingerprint = fingerprintOf(fields);
    const known = this.#keys.find(key, fingerprint);
    if (known !== undefined) return known === 'other request' ? undefined : createdBook(known, fields);
    const book = this.#insert(fields);
    this.#keys.add(key, fingerprint, { id: book.id, created: Buffer.from(JSON.stringify(book)) });
    return book;
  }

  #insert(fields: BookFields): Book {
    const book = toBook(this.#statements.insert.get(...toValues(fields)));
    if (!book) throw new TableRejection(LEFT_OUT);
    return book;
  }

  #createMany(books: readonly Uint8Array[], key: string | undefined): Uint8Array[] | undefined {
    if (key === undefined) return this.#insertMany(books);
    const fingerprint = fingerprintOfMany(books);
    const known = this.#keys.find(key, fingerprint);
    if (known !== undefined) return known === 'other request' ? undefined : createdBooks(known, books);
    const pages = this.#insertMany(books);
    // Only keys of earlier versions need the id of the first book.
    this.#keys.add(key, fingerprint, {
      id: 0,
      created: Buffer.concat([Buffer.from('['), join(pages), Buffer.from(']')]),
    });
    return pages;
  }

  #insertMany(books: readonly Uint8Array[]): Uint8Array[] {
    const { selectHighestId, insertMany, selectAbove, countElements } = this.#statements;
    let stored = 0;
    return books.map((array) => {
      const { id } = selectHighestId.get() as { id: number };
      const { count } = countElements.get(array) as { count: number };
      try {
        this.#allOrNone(() => {
          if (Number(insertMany.run(array).changes) < count) throw new TableRejection(LEFT_OUT);
        });
      } catch (error) {
        throw toRejection(this.#database, error, () => {
          const index = this.#findRejected(array);
          return index === -1 ? undefined : stored + index;
        });
      }
      stored += count;
      return (selectAbove.get(id) as { json: Uint8Array }).json;
    });
  }

  /** The index of the first book of an array that the table rejects. The transaction will be rolled back. */
  #findRejected(array: Uint8Array): number {
    const books = JSON.parse(Buffer.from(array).toString()) as BookFields[];
    return books.findIndex((fields) => {
      try {
        return !this.#insert(fields);
      } catch {
        return true;
      }
    });
  }

  /** Undoes the writes of an operation that throws; those of the other calls of the batch remain. */
  #allOrNone<Result>(operation: () => Result): Result {
    this.#database.exec('savepoint many');
    try {
      return operation();
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('rollback to many');
      throw error;
    } finally {
      if (this.#database.isTransaction) this.#database.exec('release many');
    }
  }

  #updateMany(arrays: readonly Uint8Array[]): Uint8Array[] | UpdateFault {
    const fault = this.#findFault(arrays);
    if (fault) return fault;
    try {
      return this.#allOrNone(() => this.#updateAll(arrays));
    } catch (error) {
      if (error === TOO_LONG) return TOO_LONG;
      throw error;
    }
  }

  /** @throws TOO_LONG */
  #updateAll(arrays: readonly Uint8Array[]): Uint8Array[] {
    const { select, render, update, delete: remove } = this.#statements;
    let bytes = 0;
    let index = -1;
    return arrays.map((array) => {
      const books = updatesIn([array]).map(({ id, isDeleted, ...fields }) => {
        index++;
        try {
          const { changes } = isDeleted ? remove.run(id) : update.run(...toValues(fields), id);
          // The deletion of another book may have deleted this one, too.
          if (changes === 0 && !(isDeleted && !select.get(id))) throw new TableRejection(LEFT_OUT);
        } catch (error) {
          throw toRejection(this.#database, error, () => index);
        }
        const json = isDeleted ? NULL : toUtf8((render.get(id) as { json: Uint8Array }).json);
        bytes += json.length;
        if (bytes > UPDATED_BYTES_MAX) throw TOO_LONG;
        return json;
      });
      // A copy, as only memory of its own can be transferred.
      return new Uint8Array(join([...books]));
    });
  }

  #findFault(arrays: readonly Uint8Array[]): UpdateFault | undefined {
    const { select, selectBytes } = this.#statements;
    const bytesOf = ({ id }: UpdateItem) => selectBytes.get(id)?.bytes as number | undefined;
    const bytes = updatesIn(arrays).reduce((sum, update) => sum + (bytesOf(update) ?? 0), 0);
    if (bytes > UPDATED_BYTES_MAX) return TOO_LONG;
    let index = 0;
    for (const update of updatesIn(arrays)) {
      if (bytesOf(update) === undefined) return { fault: 'absent', index };
      const { id, tags } = update;
      if (tags !== undefined && !tags.includes(entityTag(toBook(select.get(id)) as Book)))
        return { fault: 'other tag', index };
      index++;
    }
    return undefined;
  }
}

const TOO_LONG: UpdateFault = { fault: 'too long', index: 0 };
const [NULL, COMMA] = [Buffer.from('null'), Buffer.from(',')];

/** Joins books, or pages of them, with commas. */
function join(books: readonly Uint8Array[]): Buffer {
  const parts = books.filter(({ length }) => length > 0).flatMap((json) => [COMMA, json]);
  return Buffer.concat(parts.slice(1));
}

/** Parses one array at a time: together, the texts may need more memory than the thread has. */
function* updatesIn(arrays: readonly Uint8Array[]): Generator<UpdateItem, undefined> {
  for (const array of arrays) yield* JSON.parse(Buffer.from(array).toString()) as UpdateItem[];
}

await serveRequests(async (path) => {
  const database = await openConnection(path, expectBooksIfAny);
  await transact(database, () => prepareTables(database));
  // After a failed fsync of an earlier process, the WAL can be readable but not durable, so it is written again.
  database.exec('pragma wal_checkpoint(truncate)');
  return new WriteHandler(database, path);
});
