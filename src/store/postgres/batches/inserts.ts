import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Book, BookFields } from '../../../book/book.ts';
import { StoreUnavailable } from '../../../book/book-store.ts';
import { IdsExhausted } from '../../errors.ts';
import { fingerprintOf, fingerprintOfMany, idsFrom, renderCreated } from '../../idempotency.ts';
import { REMOVAL_MAX, REMOVAL_MS } from '../../limits.ts';
import { sqlState, violatedConstraint } from '../errors.ts';
import { ID_CHECK, KEY_CONSTRAINT } from '../migrations.ts';
import type { Database } from '../pool/database.ts';
import * as sql from '../sql.ts';

export interface KeyedBook {
  readonly fields: BookFields;
  readonly key: string;
}

/** The most attempts to store a key that expires between two statements. */
const KEY_ATTEMPTS_MAX = 3;

export class Inserts {
  readonly #database: Database;
  readonly #bulkDatabase: Database;
  #removalDueAt = 0;

  /** @param bulkDatabase the same database over a pool with a longer statement timeout */
  constructor(database: Database, bulkDatabase: Database) {
    this.#database = database;
    this.#bulkDatabase = bulkDatabase;
  }

  async create(books: readonly BookFields[]): Promise<Book[]> {
    const insert = () => this.#database.queryBatch<Book>(sql.INSERT, sql.columnsOf(books));
    return matchCreated(books, await this.#withUnusedIds(insert));
  }

  async createOnce(books: readonly KeyedBook[]): Promise<(Book | undefined | Error)[]> {
    void this.#removeExpiredKeys();
    const columns = [
      ...sql.columnsOf(books.map(({ fields }) => fields)),
      books.map(({ key }) => key),
      books.map(({ fields }) => fingerprintOf(fields)),
    ];
    const insert = async () => {
      const rows = await this.#withUnusedIds(() =>
        this.#database.queryBatch<{ key: string; id: number }>(sql.INSERT_ONCE, columns),
      );
      const ids = new Map(rows.map(({ key, id }) => [key, id]));
      return books.map(({ fields, key }) => ({ id: ids.get(key) as number, ...fields }));
    };
    try {
      const [book, ...others] = books;
      // If a key of several books exists, the queue retries them one by one.
      if (!book || others.length > 0) return await insert();
      const find = async () => {
        const created = await this.#findCreated(book);
        return created && { result: [created.book] };
      };
      return await this.#insertUnderKey(book.key, insert, find);
    } catch (error) {
      if (!(error instanceof IdsExhausted)) throw error;
      return Array.fromAsync(books, async (book) => {
        const created = await this.#findCreated(book);
        return created ? created.book : error;
      });
    }
  }

  /** One statement, so that it is atomic. */
  async createMany(arrays: readonly Uint8Array[], key?: string): Promise<Uint8Array[] | undefined> {
    const insert = async (statement: sql.Statement, values: readonly string[]) => {
      const all = [sql.joinArrays(arrays), ...values];
      const [row] = await this.#withUnusedIds(() =>
        this.#bulkDatabase.query<{ json: string }>(statement, all),
      );
      return [Buffer.from(row?.json ?? '')];
    };
    if (key === undefined) return insert(sql.INSERT_MANY, []);
    void this.#removeExpiredKeys();
    const fingerprint = fingerprintOfMany(arrays);
    const find = async () => {
      const known = await this.#findKey(key);
      if (!known) return undefined;
      const [digest, ...ranges] = known.fingerprint.split(' ');
      return { result: digest === fingerprint ? await renderInTurns(arrays, ranges) : undefined };
    };
    // It is looked up first, as the arrays may be long.
    const known = await find();
    if (known) return known.result;
    return this.#insertUnderKey(key, () => insert(sql.INSERT_MANY_ONCE, [key, fingerprint]), find);
  }

  /** Inserts, or if the key exists finds what it has created. @param find returns undefined when the key has expired */
  async #insertUnderKey<Result>(
    key: string,
    insert: () => Promise<Result>,
    find: () => Promise<{ readonly result: Result } | undefined>,
  ): Promise<Result> {
    for (let attempt = 1; attempt <= KEY_ATTEMPTS_MAX; attempt++) {
      try {
        return await insert();
      } catch (error) {
        if (violatedConstraint(error) !== KEY_CONSTRAINT) throw error;
      }
      const known = await find();
      if (known) return known.result;
      await this.#database.query(sql.DELETE_EXPIRED_KEY, [key]);
    }
    throw new StoreUnavailable('a key keeps expiring');
  }

  /** @returns undefined when the key is unknown or expired; else the created book, which is undefined if its fields differ */
  async #findCreated({ fields, key }: KeyedBook): Promise<{ book: Book | undefined } | undefined> {
    const row = await this.#findKey(key);
    return row && { book: row.fingerprint === fingerprintOf(fields) ? { id: row.id, ...fields } : undefined };
  }

  async #findKey(key: string): Promise<{ id: number; fingerprint: string } | undefined> {
    const rows = await this.#database.query<{ id: number; fingerprint: string }>(sql.SELECT_KEY, [key]);
    return rows[0];
  }

  #withUnusedIds<Row>(insert: () => Promise<Row[]>): Promise<Row[]> {
    return insertWithUnusedIds(insert, () => this.#database.advanceIdSequence());
  }

  /** Deletes expired keys at intervals; a failed deletion is repeated at the next one. */
  async #removeExpiredKeys(): Promise<void> {
    if (performance.now() < this.#removalDueAt) return;
    this.#removalDueAt = performance.now() + REMOVAL_MS;
    const removed = await this.#database.query(sql.DELETE_EXPIRED_KEYS, []).catch(() => []);
    if (removed.length === REMOVAL_MAX) this.#removalDueAt = performance.now();
  }
}

/** Advances the id sequence and retries if other clients have inserted ids beyond it. @throws IdsExhausted */
export async function insertWithUnusedIds<Result>(
  insert: () => Promise<Result>,
  advanceIdSequence: () => Promise<void>,
): Promise<Result> {
  try {
    return await insert();
  } catch (error) {
    const constraint = violatedConstraint(error);
    if (constraint === ID_CHECK) throw new IdsExhausted();
    if (sqlState(error) !== '23505' || constraint === KEY_CONSTRAINT) throw error;
    await advanceIdSequence();
    return insert();
  }
}

/** @param ranges of the ids, as `INSERT_MANY_ONCE` stores them */
async function renderInTurns(
  arrays: readonly Uint8Array[],
  ranges: readonly string[],
): Promise<Uint8Array[]> {
  const ids = ranges.values().flatMap((range) => {
    const [first = 0, last = 0] = range.split('-').map(Number);
    return idsFrom(first, last);
  });
  const pages: Uint8Array[] = [];
  for (const array of arrays) {
    pages.push(renderCreated(array, ids));
    await nextTurn();
  }
  return pages;
}

/** Returns the rows in the order of their books. PostgreSQL does not guarantee this order, and Citus changes it. */
function matchCreated(books: readonly BookFields[], rows: readonly Book[]): Book[] {
  const isInOrder = books.every(({ title, author, year }, index) => {
    const row = rows[index];
    return row?.title === title && row.author === author && row.year === year;
  });
  if (isInOrder) return [...rows];

  const unmatched = Map.groupBy(rows, ({ title, author, year }) => JSON.stringify([title, author, year]));
  return books.map(({ title, author, year }) => {
    const row = unmatched.get(JSON.stringify([title, author, year]))?.pop();
    if (!row) throw new Error('a created book was not returned');
    return row;
  });
}
