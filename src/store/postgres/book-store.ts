import { type Book, type BookFields, ID_MAX } from '../../book/book.ts';
import type {
  BookCount,
  BookPage,
  BookPosition,
  BookQuery,
  BookStore,
  SearchPage,
} from '../../book/book-store-interface.ts';
import { BatchQueue } from '../batch-queue.ts';
import { ConcurrencyLimiter } from '../concurrency-limiter.ts';
import { Part, type StoreObserver } from '../observer.ts';
import { type PageRow, readPages } from '../page.ts';
import { Searcher } from '../search/searcher.ts';
import { StoreNotReady } from '../store-errors.ts';
import { BATCH_LIMITS, textLength } from '../store-limits.ts';
import { Inserts } from './batches/inserts.ts';
import { limitUnknownLengths, UNKNOWN_LENGTHS_MAX } from './batches/result-limit.ts';
import { reasonOf } from './errors.ts';
import type { Conninfo } from './pool/conninfo.ts';
import { Database } from './pool/database.ts';
import {
  BOOK_POOL,
  BULK_POOL,
  ConnectionPool,
  INDEX_POOL,
  type PoolLimits,
  SEARCH_POOL,
} from './pool/pool.ts';
import { retry } from './pool/retry.ts';
import { Servers } from './pool/servers.ts';
import { prepareSchema } from './schema.ts';
import { PostgresSearchEngine } from './search/search-engine.ts';
import { SearchIndex } from './search/search-index.ts';
import {
  columnsOf,
  DELETE,
  DELETE_EXPECTED,
  matchIds,
  type RenderedRow,
  SELECT,
  SELECT_PAGE,
  toPageRow,
  UPDATE,
  UPDATE_EXPECTED,
} from './sql.ts';

/**
 * Connects to a PostgreSQL database and prepares its storage structure.
 *
 * @param observer is told what the store does
 * @throws StoreNotReady when the server cannot be reached or the structure cannot be prepared
 */
export async function openStore(conninfo: Conninfo, observer?: StoreObserver): Promise<BookStore> {
  const { servers, client } = await Servers.find(conninfo);
  try {
    await retry(() => prepareSchema(client));
  } catch (error) {
    if (error instanceof StoreNotReady) throw error;
    throw new StoreNotReady(`the table books cannot be prepared (${reasonOf(error)})`);
  } finally {
    await client.end();
  }
  const poolOf = (name: string, bounds: PoolLimits) => {
    const pool = new ConnectionPool(servers, bounds);
    observer?.pool(name, () => pool.state);
    return pool;
  };
  const database = new Database(poolOf('books', BOOK_POOL));
  const inserts = new Inserts(database, new Database(poolOf('many', BULK_POOL)), observer);
  const searchIndex = new SearchIndex(poolOf('search_index', INDEX_POOL), new Part('search index', observer));
  const searcher = new Searcher(new PostgresSearchEngine(poolOf('searches', SEARCH_POOL), searchIndex));
  return new PostgresBookStore(database, inserts, searcher, observer);
}

/** Every kind of call has its own batches: one single-statement transaction each. */
class PostgresBookStore implements BookStore {
  readonly #database: Database;
  readonly #inserts: Inserts;
  readonly #searcher: Searcher;
  readonly #searches: ConcurrencyLimiter;
  readonly #finds: BatchQueue<number, Book | undefined>;
  readonly #lists: BatchQueue<number, BookPage>;
  readonly #updates: BatchQueue<Update, Book | undefined>;
  readonly #deletes: BatchQueue<number, boolean>;
  readonly #expectedUpdates: BatchQueue<ExpectedUpdate, Book | undefined>;
  readonly #expectedDeletes: BatchQueue<Book, boolean>;

  constructor(database: Database, inserts: Inserts, searcher: Searcher, observer: StoreObserver | undefined) {
    this.#database = database;
    this.#inserts = inserts;
    this.#searcher = searcher;
    this.#searches = new ConcurrencyLimiter('search', SEARCH_POOL.connectionsMax, observer);
    const options = { ...BATCH_LIMITS, observer };
    const findOptions = { ...options, batchItemsMax: UNKNOWN_LENGTHS_MAX, name: 'find' };
    this.#finds = new BatchQueue((ids) => this.#select(ids), findOptions);
    this.#lists = new BatchQueue(
      (afters) => readPages(afters, (after, limit) => this.#selectPage(after, limit)),
      { ...options, name: 'list' },
    );
    this.#updates = new BatchQueue((updates) => this.#update(limitUnknownLengths(updates)), {
      ...options,
      name: 'update',
      keyOf: ({ id }) => id,
      textOf: ({ changes }) => textLength(changes),
    });
    this.#deletes = new BatchQueue((ids) => this.#delete(ids), {
      ...options,
      name: 'delete',
      keyOf: (id) => id,
    });
    this.#expectedUpdates = new BatchQueue((updates) => this.#updateExpected(updates), {
      ...options,
      name: 'update_expected',
      keyOf: ({ expected }) => expected.id,
      textOf: ({ expected, changes }) => textLength(expected) + textLength(changes),
    });
    this.#expectedDeletes = new BatchQueue((books) => this.#deleteExpected(books), {
      ...options,
      name: 'delete_expected',
      keyOf: ({ id }) => id,
      textOf: (book) => textLength(book),
    });
  }

  create(fields: BookFields): Promise<Book> {
    return this.#inserts.create(fields);
  }

  createOnce(fields: BookFields, key: string): Promise<Book | undefined> {
    return this.#inserts.createOnce(fields, key);
  }

  createMany(books: readonly Uint8Array[]): Promise<Uint8Array[]> {
    return this.#inserts.createMany(books);
  }

  find(id: number): Promise<Book | undefined> {
    return this.#finds.add(id);
  }

  list(after = -ID_MAX - 1): Promise<BookPage> {
    return this.#lists.add(after);
  }

  search(query: BookQuery, limit: number, after?: BookPosition, signal?: AbortSignal): Promise<SearchPage> {
    return this.#searches.run(() => this.#searcher.search(query, limit, after), signal);
  }

  count(query: BookQuery, after?: BookPosition, signal?: AbortSignal): Promise<BookCount> {
    return this.#searches.run(() => this.#searcher.count(query, after), signal);
  }

  update(id: number, changes: Partial<BookFields>): Promise<Book | undefined> {
    return this.#updates.add({ id, changes });
  }

  delete(id: number): Promise<boolean> {
    return this.#deletes.add(id);
  }

  updateExpected(expected: Book, changes: Partial<BookFields>): Promise<Book | undefined> {
    return this.#expectedUpdates.add({ expected, changes });
  }

  deleteExpected(expected: Book): Promise<boolean> {
    return this.#expectedDeletes.add(expected);
  }

  async check(): Promise<void> {
    await this.#select([]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const plain = [this.#inserts, this.#finds, this.#lists, this.#updates, this.#deletes];
    const conditional = [this.#expectedUpdates, this.#expectedDeletes];
    await Promise.all([...plain, ...conditional].map((calls) => calls.close()));
    await this.#searcher.close();
    await this.#database.close();
  }

  async #select(ids: readonly number[]): Promise<(Book | undefined)[]> {
    return matchIds(ids, await this.#database.query<Book>(SELECT, [ids]));
  }

  async #selectPage(after: number, limit: number): Promise<PageRow> {
    return toPageRow(await this.#database.query<RenderedRow>(SELECT_PAGE, [after, limit]));
  }

  async #update(updates: readonly Update[]): Promise<(Book | undefined)[]> {
    const ids = updates.map(({ id }) => id);
    const changes = columnsOf(updates.map((update) => update.changes));
    return matchIds(ids, await this.#database.query<Book>(UPDATE, [ids, ...changes]));
  }

  async #delete(ids: readonly number[]): Promise<boolean[]> {
    return matchIds(ids, await this.#database.query<{ id: number }>(DELETE, [ids])).map(isThere);
  }

  async #updateExpected(updates: readonly ExpectedUpdate[]): Promise<(Book | undefined)[]> {
    const ids = updates.map(({ expected }) => expected.id);
    const changes = columnsOf(updates.map((update) => update.changes));
    const expected = columnsOf(updates.map((update) => update.expected));
    return matchIds(ids, await this.#database.query<Book>(UPDATE_EXPECTED, [ids, ...changes, ...expected]));
  }

  async #deleteExpected(books: readonly Book[]): Promise<boolean[]> {
    const ids = books.map(({ id }) => id);
    const values = [ids, ...columnsOf(books)];
    return matchIds(ids, await this.#database.query<{ id: number }>(DELETE_EXPECTED, values)).map(isThere);
  }
}

interface Update {
  readonly id: number;
  readonly changes: Partial<BookFields>;
}

interface ExpectedUpdate {
  readonly expected: Book;
  readonly changes: Partial<BookFields>;
}

function isThere(row: object | undefined): boolean {
  return row !== undefined;
}
