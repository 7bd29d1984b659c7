import type { Book, BookFields } from '../../../book/book.ts';
import { LEFT_OUT, TableRejection } from '../../../book/book-store.ts';
import {
  type Created,
  createdBook,
  createdBooks,
  fingerprintOf,
  fingerprintOfMany,
} from '../../idempotency.ts';
import { REMOVAL_MS } from '../../limits.ts';
import { sqlState, violatedConstraint } from '../errors.ts';
import { KEY_CONSTRAINT } from '../migrations.ts';
import type { Database } from '../pool/database.ts';
import { retry } from '../pool/pool.ts';
import * as sql from '../sql.ts';

export interface KeyedBook {
  readonly fields: BookFields;
  readonly key: string;
}

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
    const rows = await this.#withUnusedIds(() =>
      this.#database.queryBatch<Book>(sql.INSERT, sql.columnsOf(books)),
    );
    // A trigger of the table may store other texts, or leave out a book, which is a rejection; of several, the statement fails.
    if (rows.length === 0) throw new TableRejection(LEFT_OUT);
    return rows;
  }

  async createOnce(books: readonly KeyedBook[]): Promise<(Book | undefined)[]> {
    void this.#removeExpiredKeys();
    const fingerprints = books.map(({ fields }) => fingerprintOf(fields));
    const columns = [
      ...sql.columnsOf(books.map(({ fields }) => fields)),
      books.map(({ key }) => key),
      fingerprints,
    ];
    const rows = await this.#withKeys(() => this.#database.queryBatch<KeyRow>(sql.INSERT_ONCE, columns));
    const byKey = new Map(rows.map((row) => [row.key, row]));
    return books.map(({ fields, key }, index) => {
      const created = createdFor(byKey.get(key), fingerprints[index] as string);
      return created && createdBook(created, fields);
    });
  }

  /** One statement, so that it is atomic. */
  async createMany(arrays: readonly Uint8Array[], key?: string): Promise<Uint8Array[] | undefined> {
    const json = sql.joinArrays(arrays);
    if (key === undefined) {
      const [row] = await this.#withUnusedIds(() =>
        this.#bulkDatabase.query<{ json: string }>(sql.INSERT_MANY, [json]),
      );
      return [Buffer.from(row?.json ?? '')];
    }
    void this.#removeExpiredKeys();
    const fingerprint = fingerprintOfMany(arrays);
    const [row] = await this.#withKeys(() =>
      this.#bulkDatabase.query<KeyRow>(sql.INSERT_MANY_ONCE, [json, key, fingerprint]),
    );
    const created = createdFor(row, fingerprint);
    return created && createdBooks(created, arrays);
  }

  /** Repeats a statement that fails because another session stores one of its keys at the same time: then it finds the key. */
  #withKeys<Row>(insert: () => Promise<Row[]>): Promise<Row[]> {
    return retry(
      () => this.#withUnusedIds(insert),
      (error) => violatedConstraint(error) === KEY_CONSTRAINT,
    );
  }

  #withUnusedIds<Row>(insert: () => Promise<Row[]>): Promise<Row[]> {
    return insertWithUnusedIds(insert, () => this.#database.advanceIdSequence());
  }

  /** Deletes expired keys at intervals; a failed deletion is repeated at the next one. */
  async #removeExpiredKeys(): Promise<void> {
    if (performance.now() < this.#removalDueAt) return;
    this.#removalDueAt = performance.now() + REMOVAL_MS;
    const removed = await this.#database.query(sql.DELETE_EXPIRED_KEYS, []).catch(() => []);
    if (removed.length > 0) this.#removalDueAt = performance.now();
  }
}

/** Advances the id sequence and retries if other clients have inserted ids beyond it. */
export async function insertWithUnusedIds<Result>(
  insert: () => Promise<Result>,
  advanceIdSequence: () => Promise<void>,
): Promise<Result> {
  try {
    return await insert();
  } catch (error) {
    if (sqlState(error) !== '23505' || violatedConstraint(error) === KEY_CONSTRAINT) throw error;
    await advanceIdSequence();
    return insert();
  }
}

/** An idempotency key, as `INSERT_ONCE` and `INSERT_MANY_ONCE` return it. */
interface KeyRow {
  readonly key: string;
  readonly fingerprint: string;
  readonly created: string;
  readonly id: number;
}

/**
 * Without a row, the only book of the statement was not stored.
 *
 * @returns undefined when the key was used for another request
 * @throws TableRejection
 */
function createdFor(row: KeyRow | undefined, fingerprint: string): Created | undefined {
  if (!row) throw new TableRejection(LEFT_OUT);
  return row.fingerprint === fingerprint ? { created: Buffer.from(row.created), id: row.id } : undefined;
}
