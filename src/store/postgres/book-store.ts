import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
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
import {
  isLostToOthers,
  isPreparedStatementRefused,
  reasonOf,
  sqlState,
  toStoreError,
  violatedConstraint,
} from './errors.ts';
import { ID_CHECK, passUsedIds, prepareSchema } from './schema.ts';
import { DELETE, INSERT, SELECT, SELECT_PAGE, type Statement, UPDATE } from './sql.ts';

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
  return new PostgresBookStore(createPool(config));
}

/** How often a statement is sent that loses against concurrent transactions. */
const ATTEMPTS_MAX = 5;

/** Every kind of call has its own trips: one single-statement transaction for all items of a trip. */
class PostgresBookStore implements BookStore {
  readonly #pool: Pool;
  /** Prepared statements halve what a trip costs the server, but not every pooler of connections knows them. */
  #isPreparing = true;
  readonly #creates: Batch<BookFields, Book>;
  readonly #finds: Batch<number, Book | undefined>;
  readonly #lists: Batch<number, BookPage>;
  readonly #updates: Batch<Update, Book | undefined>;
  readonly #deletes: Batch<number, boolean>;

  constructor(pool: Pool) {
    this.#pool = pool;
    this.#creates = new Batch((books) => this.#insert(books), BOUNDS);
    this.#finds = new Batch((ids) => this.#select(ids), BOUNDS);
    this.#lists = new Batch(
      (afters) => readPages(afters, (after, limit) => this.#selectPage(after, limit)),
      BOUNDS,
    );
    this.#updates = new Batch((updates) => this.#update(updates), { ...BOUNDS, keyOf: ({ id }) => id });
    this.#deletes = new Batch((ids) => this.#delete(ids), { ...BOUNDS, keyOf: (id) => id });
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

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      [this.#creates, this.#finds, this.#lists, this.#updates, this.#deletes].map((batch) => batch.close()),
    );
    await this.#pool.end();
  }

  async #insert(books: readonly BookFields[]): Promise<Book[]> {
    const values = [
      books.map((book) => book.title),
      books.map((book) => book.author),
      books.map((book) => book.year),
    ];
    try {
      return matchCreated(books, await this.#query<Book>(INSERT, values));
    } catch (error) {
      // The fields are valid, so it is the id: used up, or already given to a row by somebody who chose ids.
      if (violatedConstraint(error) === ID_CHECK) throw new StoreUnavailable('ids are used up');
      if (sqlState(error) !== '23505') throw error;
      await this.#passUsedIds();
      return matchCreated(books, await this.#query<Book>(INSERT, values));
    }
  }

  async #passUsedIds(): Promise<void> {
    try {
      const client = await this.#pool.connect();
      // A connection that is lent out has no listener but ours.
      client.on('error', ignoreLoss);
      try {
        await passUsedIds(client);
        client.off('error', ignoreLoss).release();
      } catch (error) {
        client.release(true);
        throw error;
      }
    } catch (error) {
      throw toStoreError(error);
    }
  }

  async #select(ids: readonly number[]): Promise<(Book | undefined)[]> {
    return matchIds(ids, await this.#query<Book>(SELECT, [ids]));
  }

  async #selectPage(after: number, limit: number): Promise<PageRow> {
    const [row] = await this.#query<RenderedRow>(SELECT_PAGE, [after, limit]);
    if (!row) throw new Error('a page without a row');
    const { count, last, json } = row;
    // The driver's results of one list hold on to each other until a whole collection; 50 MB if they keep their text.
    row.json = null;
    return { count, last, json: json === null ? null : Buffer.from(json) };
  }

  async #update(updates: readonly Update[]): Promise<(Book | undefined)[]> {
    const ids = updates.map(({ id }) => id);
    const titles = updates.map(({ changes }) => changes.title ?? null);
    const authors = updates.map(({ changes }) => changes.author ?? null);
    const years = updates.map(({ changes }) => changes.year ?? null);
    return matchIds(ids, await this.#query<Book>(UPDATE, [ids, titles, authors, years]));
  }

  async #delete(ids: readonly number[]): Promise<boolean[]> {
    return matchIds(ids, await this.#query<{ id: number }>(DELETE, [ids])).map((row) => row !== undefined);
  }

  async #query<Row extends object>({ name, text }: Statement, values: unknown[]): Promise<Row[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { rows } = await this.#pool.query<Row>(
          this.#isPreparing ? { name, text, values } : { text, values },
        );
        return rows;
      } catch (error) {
        const isRefused = this.#isPreparing && isPreparedStatementRefused(error);
        if (isRefused) this.#isPreparing = false;
        else if (!isLostToOthers(error) || attempt >= ATTEMPTS_MAX) throw toStoreError(error);
        else await sleep(Math.random() * 10 * attempt);
      }
    }
  }
}

/** The loss of a connection shows in its query, too. */
function ignoreLoss(): void {}

interface RenderedRow {
  readonly count: number;
  readonly last: number;
  json: string | null;
}

interface Update {
  readonly id: number;
  readonly changes: Partial<BookFields>;
}

const BOUNDS = {
  tripItemsMax: TRIP_ITEMS_MAX,
  queueItemsMax: QUEUE_ITEMS_MAX,
} satisfies BatchOptions<unknown>;

/** The rows in the order of the ids they were asked by. */
function matchIds<Row extends { readonly id: number }>(
  ids: readonly number[],
  rows: readonly Row[],
): (Row | undefined)[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}

/**
 * The rows in the order of the books they were made from. PostgreSQL returns them so, but nothing promises it, and
 * other engines do not; so a row out of place goes to a caller who asked for the like of it.
 */
function matchCreated(books: readonly BookFields[], rows: readonly Book[]): Book[] {
  if (books.every((book, index) => isSame(book, rows[index]))) return [...rows];

  const unclaimed = Map.groupBy(rows, ({ title, author, year }) => JSON.stringify([title, author, year]));
  return books.map(({ title, author, year }) => {
    const row = unclaimed.get(JSON.stringify([title, author, year]))?.pop();
    if (!row) throw new Error('a created book was not returned');
    return row;
  });
}

function isSame(book: BookFields, row: Book | undefined): boolean {
  return (
    row !== undefined && row.title === book.title && row.author === book.author && row.year === book.year
  );
}
