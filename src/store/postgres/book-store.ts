import {
  type Book,
  type BookFields,
  type BookPage,
  type BookStore,
  ID_MAX,
  StoreUnavailable,
} from '../../book.ts';
import { Batch, type BatchOptions } from '../batch.ts';
import { QUEUE_ITEMS_MAX, TRIP_ITEMS_MAX } from '../limits.ts';
import { StoreNotReady } from '../not-ready.ts';
import { type PageRow, readPages } from '../page.ts';
import { connect, createPool } from './connection.ts';
import type { Conninfo } from './conninfo.ts';
import { Database } from './database.ts';
import { reasonOf, sqlState, violatedConstraint } from './errors.ts';
import { matchCreated, matchIds } from './match.ts';
import { ID_CHECK, prepareSchema } from './schema.ts';
import { DELETE, DELETE_EXPECTED, INSERT, SELECT, SELECT_PAGE, UPDATE, UPDATE_EXPECTED } from './sql.ts';

/**
 * Connects to a PostgreSQL database and prepares its storage structure.
 *
 * @throws StoreNotReady when the server cannot be reached or the structure cannot be prepared
 */
export async function openPostgresStore(conninfo: Conninfo): Promise<BookStore> {
  const { client, config } = await connect(conninfo);
  try {
    await prepareSchema(client);
  } catch (error) {
    if (error instanceof StoreNotReady) throw error;
    throw new StoreNotReady(`the table books cannot be prepared (${reasonOf(error)})`);
  } finally {
    await client.end();
  }
  return new PostgresBookStore(new Database(createPool(config)));
}

/** Every kind of call has its own trips: one single-statement transaction for all items of a trip. */
class PostgresBookStore implements BookStore {
  readonly #database: Database;
  readonly #creates: Batch<BookFields, Book>;
  readonly #finds: Batch<number, Book | undefined>;
  readonly #lists: Batch<number, BookPage>;
  readonly #updates: Batch<Update, Book | undefined>;
  readonly #deletes: Batch<number, boolean>;
  readonly #expectedUpdates: Batch<ExpectedUpdate, Book | undefined>;
  readonly #expectedDeletes: Batch<Book, boolean>;

  constructor(database: Database) {
    this.#database = database;
    this.#creates = new Batch((books) => this.#insert(books), BOUNDS);
    this.#finds = new Batch((ids) => this.#select(ids), BOUNDS);
    this.#lists = new Batch(
      (afters) => readPages(afters, (after, limit) => this.#selectPage(after, limit)),
      BOUNDS,
    );
    this.#updates = new Batch((updates) => this.#update(updates), { ...BOUNDS, keyOf: ({ id }) => id });
    this.#deletes = new Batch((ids) => this.#delete(ids), { ...BOUNDS, keyOf: (id) => id });
    this.#expectedUpdates = new Batch((updates) => this.#updateExpected(updates), {
      ...BOUNDS,
      keyOf: ({ expected }) => expected.id,
    });
    this.#expectedDeletes = new Batch((books) => this.#deleteExpected(books), {
      ...BOUNDS,
      keyOf: ({ id }) => id,
    });
  }

  create(fields: BookFields): Promise<Book> {
    return this.#creates.call(fields);
  }

  find(id: number): Promise<Book | undefined> {
    return this.#finds.call(id);
  }

  list(after = -ID_MAX - 1): Promise<BookPage> {
    return this.#lists.call(after);
  }

  update(id: number, changes: Partial<BookFields>): Promise<Book | undefined> {
    return this.#updates.call({ id, changes });
  }

  delete(id: number): Promise<boolean> {
    return this.#deletes.call(id);
  }

  updateExpected(expected: Book, changes: Partial<BookFields>): Promise<Book | undefined> {
    return this.#expectedUpdates.call({ expected, changes });
  }

  deleteExpected(expected: Book): Promise<boolean> {
    return this.#expectedDeletes.call(expected);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const plain = [this.#creates, this.#finds, this.#lists, this.#updates, this.#deletes];
    const conditional = [this.#expectedUpdates, this.#expectedDeletes];
    await Promise.all([...plain, ...conditional].map((batch) => batch.close()));
    await this.#database.close();
  }

  async #insert(books: readonly BookFields[]): Promise<Book[]> {
    const values = columnsOf(books);
    try {
      return matchCreated(books, await this.#database.query<Book>(INSERT, values));
    } catch (error) {
      // The fields are valid, so it is the id: used up, or already given to a row by somebody who chose ids.
      if (violatedConstraint(error) === ID_CHECK) throw new StoreUnavailable('ids are used up');
      if (sqlState(error) !== '23505') throw error;
      await this.#database.passUsedIds();
      return matchCreated(books, await this.#database.query<Book>(INSERT, values));
    }
  }

  async #select(ids: readonly number[]): Promise<(Book | undefined)[]> {
    return matchIds(ids, await this.#database.query<Book>(SELECT, [ids]));
  }

  async #selectPage(after: number, limit: number): Promise<PageRow> {
    const [row] = await this.#database.query<RenderedRow>(SELECT_PAGE, [after, limit]);
    if (!row) throw new Error('a page without a row');
    const { count, last, json } = row;
    // The driver's results of one list hold on to each other until a whole collection; 50 MB if they keep their text.
    row.json = null;
    return { count, last, json: json === null ? null : Buffer.from(json) };
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

interface RenderedRow {
  readonly count: number;
  readonly last: number;
  json: string | null;
}

interface Update {
  readonly id: number;
  readonly changes: Partial<BookFields>;
}

interface ExpectedUpdate {
  readonly expected: Book;
  readonly changes: Partial<BookFields>;
}

/** The fields of books as arrays, one for each column; what is absent is null. */
function columnsOf(books: readonly Partial<BookFields>[]): unknown[] {
  return [
    books.map(({ title = null }) => title),
    books.map(({ author = null }) => author),
    books.map(({ year = null }) => year),
  ];
}

function isThere(row: object | undefined): boolean {
  return row !== undefined;
}

const BOUNDS = {
  tripItemsMax: TRIP_ITEMS_MAX,
  queueItemsMax: QUEUE_ITEMS_MAX,
} satisfies BatchOptions<unknown>;
