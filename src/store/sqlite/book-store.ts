import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ListPage, PageOptions, UpdateFault } from '../../book/book-store.ts';
import type { Book, BookFields } from '../../book/contract.ts';
import { BatchQueue, NOTHING_CHANGES } from '../batch-queue.ts';
import type { OpenStore, SqliteConnection } from '../engine.ts';
import { BATCH_LIMITS } from '../limits.ts';
import type { StoreObserver } from '../observer.ts';
import { PAGE_BATCHES, type PageRequest, readPages, toPageRequest } from '../page.ts';
import { prepareBook, SELECT, toBook } from './book-columns.ts';
import { toNotReady, toStoreError } from './errors.ts';
import { openConnection } from './files/connection.ts';
import { expectWritable, makeFolderOf } from './files/permissions.ts';
import { LazyThread } from './threads/lazy-thread.ts';
import { ThreadClient, toBuilt } from './threads/thread-client.ts';
import { isUndoneInThread } from './threads/thread-messages.ts';
import type { WriteCall, WriteRequest, WriteResult, WriteVerb } from './threads/write-thread.ts';

/** The file is created with its folder when missing. @throws StoreNotReady */
export async function openStore(path: string, observer: StoreObserver): Promise<OpenStore> {
  let writeThread: WriteThread | undefined;
  try {
    makeFolderOf(path);
    expectWritable(path);
    writeThread = await ThreadClient.start<WriteRequest, unknown>(WRITE_THREAD, path);
    return new SqliteBookStore(path, writeThread, await openConnection(path), observer);
  } catch (error) {
    await writeThread?.close();
    throw toNotReady(error, path);
  }
}

type WriteThread = ThreadClient<WriteRequest, unknown>;

const WRITE_THREAD = new URL('./threads/write-thread.ts', import.meta.url);
const LIST_THREAD = new URL('./threads/list-thread.ts', import.meta.url);

/** Threads write and list. The main thread reads single books, faster than a message to a thread. */
class SqliteBookStore implements OpenStore {
  readonly connection: SqliteConnection;
  readonly lost: Promise<string>;
  readonly #writeThread: WriteThread;
  readonly #listThread: LazyThread<readonly PageRequest[], readonly ListPage[]>;
  /** The connection of the main thread. */
  readonly #database: DatabaseSync;
  readonly #select: StatementSync;
  readonly #writes: BatchQueue<WriteCall, WriteResult>;
  readonly #finds: BatchQueue<number, Book | undefined>;
  readonly #lists: BatchQueue<PageRequest, ListPage>;

  constructor(path: string, writeThread: WriteThread, database: DatabaseSync, observer: StoreObserver) {
    const write = (module: URL, argument: unknown) =>
      writeThread.send({ module: toBuilt(module).href, argument });
    this.connection = { engine: 'sqlite', path, write };
    this.lost = writeThread.failed;
    this.#writeThread = writeThread;
    this.#listThread = new LazyThread(LIST_THREAD, path, 'list thread', observer);
    this.#database = database;
    this.#select = prepareBook(database, SELECT);
    const options = { ...BATCH_LIMITS, observer, isUndone: isUndoneInThread };
    this.#writes = new BatchQueue((calls) => writeThread.send(calls) as Promise<WriteResult[]>, {
      ...options,
      name: 'write',
    });
    this.#finds = new BatchQueue(async (ids) => this.#find(ids), {
      ...options,
      name: 'find',
      isUndone: NOTHING_CHANGES,
      endsInTurn: true,
    });
    const read = (requests: readonly PageRequest[]) => this.#listThread.send(requests);
    this.#lists = new BatchQueue((requests) => readPages(requests, read), {
      ...options,
      ...PAGE_BATCHES,
      name: 'list',
      isUndone: NOTHING_CHANGES,
    });
  }

  create(fields: BookFields): Promise<Book> {
    return this.#write(['create', fields]);
  }

  createOnce(fields: BookFields, key: string): Promise<Book | undefined> {
    return this.#write(['createOnce', fields, key]);
  }

  createMany(books: readonly Uint8Array[], key?: string): Promise<Uint8Array[] | undefined> {
    return this.#write(['createMany', books, key]);
  }

  updateMany(updates: readonly Uint8Array[]): Promise<Uint8Array[] | UpdateFault> {
    return this.#write(['updateMany', updates]);
  }

  find(id: number): Promise<Book | undefined> {
    return this.#finds.add(id);
  }

  list(after = -Number.MAX_VALUE, options: PageOptions = {}): Promise<ListPage> {
    return this.#lists.add(toPageRequest(after, options), options.begin);
  }

  update(id: number, fields: Partial<BookFields>): Promise<Book | undefined> {
    return this.#write(['update', id, fields]);
  }

  delete(id: number): Promise<boolean> {
    return this.#write(['delete', id]);
  }

  updateExpected(expected: Book, fields: Partial<BookFields>): Promise<Book | undefined> {
    return this.#write(['updateExpected', expected, fields]);
  }

  deleteExpected(expected: Book): Promise<boolean> {
    return this.#write(['deleteExpected', expected]);
  }

  async check(): Promise<void> {
    this.#find([0]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#writes, this.#finds, this.#lists].map((queue) => queue.close()));
    if (this.#database.isOpen) this.#database.close();
    await this.#listThread.close();
    await this.#writeThread.close();
  }

  /** Calls a method in the write thread. Messages have no types, so the result is that of the call by contract. */
  #write<Verb extends WriteVerb>(call: WriteCall & { readonly 0: Verb }): Promise<WriteResult<Verb>> {
    return this.#writes.add(call) as Promise<WriteResult<Verb>>;
  }

  /** Reads several books in one transaction, whose locks cost more than a read. */
  #find(ids: readonly number[]): (Book | undefined)[] {
    return run(() => {
      if (ids.length > 1) this.#database.exec('begin');
      try {
        return ids.map((id) => toBook(this.#select.get(id)));
      } finally {
        if (this.#database.isTransaction) this.#database.exec('rollback');
      }
    });
  }
}

/** @throws errors in terms of the BookStore interface */
function run<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw toStoreError(error);
  }
}
