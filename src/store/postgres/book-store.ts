import type { ClientBase } from 'pg';
import { ID_MAX } from '../../book/book.ts';
import type { ListPage, PageOptions, UpdateFault } from '../../book/book-store.ts';
import type { Book, BookFields } from '../../book/contract.ts';
import { type BatchOptions, BatchQueue, NOTHING_CHANGES, type RunBatch } from '../batch-queue.ts';
import type { OpenStore, StoreConnection } from '../engine.ts';
import { BATCH_LIMITS } from '../limits.ts';
import type { StoreObserver } from '../observer.ts';
import { PAGE_BATCHES, type PageRequest, readPages, toPageRequest } from '../page.ts';
import { findBooks } from './batches/finds.ts';
import { Inserts, type KeyedBook } from './batches/inserts.ts';
import { updateMany } from './batches/update-many.ts';
import {
  deleteBooks,
  deleteExpectedBooks,
  type ExpectedUpdate,
  type Update,
  updateBooks,
  updateExpectedBooks,
} from './batches/updates.ts';
import { prepareTables } from './books-table.ts';
import { type Citus, type DistributedCalls, prepareCitus } from './citus/citus.ts';
import { connect, type PostgresServer } from './connection/connect.ts';
import type { Conninfo } from './connection/conninfo.ts';
import { isUndone } from './errors.ts';
import { selectPages } from './pages.ts';
import { Database } from './pool/database.ts';
import { type ConnectionPool, openPools, POOLS, retry } from './pool/pool.ts';
import { toTableRejection } from './table-rejections.ts';

/** See `Engine.openStore`. It connects once to prepare the tables; the pools connect when they are used. */
export async function openStore(conninfo: Conninfo, observer: StoreObserver): Promise<OpenStore> {
  let citus: Citus | undefined;
  const prepare = async (connected: ClientBase) => {
    await retry(() => prepareTables(connected));
    citus = await prepareCitus(connected);
  };
  const { server, client } = await connect(conninfo, prepare);
  await client.end();
  return new PostgresBookStore(server, citus, observer);
}

interface QueueOptions<Item> extends Partial<BatchOptions<Item>> {
  /** Absent if only their statements are others there (citus/citus-database.ts). */
  readonly onCitus?: DistributedCalls;
}

/** The result of a call on many books. */
type ManyResult = Uint8Array[] | UpdateFault | undefined;

/** Each kind of call has its own batches, each a transaction of one statement. */
class PostgresBookStore implements OpenStore {
  readonly connection: StoreConnection;
  readonly #database: Database;
  readonly #bulkDatabase: Database;
  readonly #inserts: Inserts;
  readonly #queues: { close(): Promise<void> }[] = [];
  readonly #creates: BatchQueue<BookFields, Book>;
  readonly #keyedCreates: BatchQueue<KeyedBook, Book | undefined>;
  /** They share a connection, and so a queue. */
  readonly #many: BatchQueue<() => Promise<ManyResult>, ManyResult>;
  readonly #finds: BatchQueue<number, Book | undefined>;
  readonly #lists: BatchQueue<PageRequest, ListPage>;
  readonly #updates: BatchQueue<Update, Book | undefined>;
  readonly #deletes: BatchQueue<number, boolean>;
  readonly #expectedUpdates: BatchQueue<ExpectedUpdate, Book | undefined>;
  readonly #expectedDeletes: BatchQueue<Book, boolean>;

  constructor(server: PostgresServer, citus: Citus | undefined, observer: StoreObserver) {
    this.connection = { engine: 'postgres', server, canHaveTriggers: !citus };
    const queueOf = <Item, Result>(
      name: string,
      run: RunBatch<Item, Result>,
      { onCitus, ...options }: QueueOptions<Item> = {},
    ) => {
      const runBatch: RunBatch<Item, Result> = (items) =>
        run(items).catch((error: unknown) => Promise.reject(toTableRejection(error)));
      const distributed = onCitus && citus?.batchesOf(onCitus, runBatch);
      const queue = new BatchQueue<Item, Result>(distributed?.run ?? runBatch, {
        ...BATCH_LIMITS,
        observer,
        name,
        isUndone,
        ...options,
        ...distributed?.options,
      });
      this.#queues.push(queue);
      return queue;
    };
    const databaseOn = (pool: ConnectionPool) => citus?.openDatabase(pool) ?? new Database(pool);
    const pools = openPools(server, POOLS, observer);
    const database = databaseOn(pools.books);
    const bulkDatabase = databaseOn(pools.many);
    this.#database = database;
    this.#bulkDatabase = bulkDatabase;
    const inserts = new Inserts(database, bulkDatabase);
    this.#creates = queueOf('create', (books) => inserts.create(books));
    this.#keyedCreates = queueOf('create_once', (books) => inserts.createOnce(books), {
      uniqueBy: ({ key }) => key,
    });
    this.#inserts = inserts;
    this.#many = queueOf('many', (calls) => Promise.all(calls.map((call) => call())), { batchItemsMax: 1 });
    this.#finds = queueOf('find', (ids) => findBooks(database, ids), {
      isUndone: NOTHING_CHANGES,
      onCitus: 'finds',
    });
    const read = (requests: readonly PageRequest[]) => selectPages(database, requests);
    this.#lists = queueOf('list', (requests) => readPages(requests, read), {
      ...PAGE_BATCHES,
      isUndone: NOTHING_CHANGES,
    });
    this.#updates = queueOf('update', (updates) => updateBooks(database, updates), {
      uniqueBy: ({ id }) => id,
      onCitus: 'changes',
    });
    this.#deletes = queueOf('delete', (ids) => deleteBooks(database, ids), {
      uniqueBy: (id) => id,
      onCitus: 'changes',
    });
    this.#expectedUpdates = queueOf('update_expected', (updates) => updateExpectedBooks(database, updates), {
      uniqueBy: ({ expected }) => expected.id,
      onCitus: 'changes',
    });
    this.#expectedDeletes = queueOf('delete_expected', (books) => deleteExpectedBooks(database, books), {
      uniqueBy: ({ id }) => id,
      onCitus: 'changes',
    });
  }

  create(fields: BookFields): Promise<Book> {
    return this.#creates.add(fields);
  }

  createOnce(fields: BookFields, key: string): Promise<Book | undefined> {
    return this.#keyedCreates.add({ fields, key });
  }

  createMany(books: readonly Uint8Array[], key?: string): Promise<Uint8Array[] | undefined> {
    return this.#many.add(() => this.#inserts.createMany(books, key)) as Promise<Uint8Array[] | undefined>;
  }

  updateMany(updates: readonly Uint8Array[]): Promise<Uint8Array[] | UpdateFault> {
    const change = () => updateMany(this.#bulkDatabase, updates);
    return this.#many.add(change) as Promise<Uint8Array[] | UpdateFault>;
  }

  find(id: number): Promise<Book | undefined> {
    return this.#finds.add(id);
  }

  list(after = -ID_MAX - 1, options: PageOptions = {}): Promise<ListPage> {
    return this.#lists.add(toPageRequest(after, options), options.begin);
  }

  update(id: number, fields: Partial<BookFields>): Promise<Book | undefined> {
    return this.#updates.add({ id, fields });
  }

  delete(id: number): Promise<boolean> {
    return this.#deletes.add(id);
  }

  updateExpected(expected: Book, fields: Partial<BookFields>): Promise<Book | undefined> {
    return this.#expectedUpdates.add({ expected, fields });
  }

  deleteExpected(expected: Book): Promise<boolean> {
    return this.#expectedDeletes.add(expected);
  }

  async check(): Promise<void> {
    await findBooks(this.#database, []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#queues.map((queue) => queue.close()));
    await Promise.all([this.#database.close(), this.#bulkDatabase.close()]);
  }
}
