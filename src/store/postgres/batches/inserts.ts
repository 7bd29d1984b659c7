import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Book, BookFields } from '../../../book/book.ts';
import { LEFT_OUT, TableRejection } from '../../../book/book-store.ts';
import { fingerprintOf, fingerprintOfMany, idsFrom, renderCreated } from '../../idempotency.ts';
import { REMOVAL_MAX, REMOVAL_MS } from '../../limits.ts';
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
      const { id, fingerprint } = expectKey(byKey.get(key));
      const [digest, changed] = split(fingerprint, ' {');
      if (digest !== fingerprints[index]) return undefined;
      return { id, ...(changed === '' ? fields : (JSON.parse(changed) as BookFields)) };
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
    const [known, changed] = split(expectKey(row).fingerprint, ' [');
    const [digest, ...ranges] = known.split(' ');
    if (digest !== fingerprint) return undefined;
    return changed === '' ? renderInTurns(arrays, ranges) : [Buffer.from(changed.slice(1, -1))];
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
    if (removed.length === REMOVAL_MAX) this.#removalDueAt = performance.now();
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

/** @param ranges of the ids, as `INSERT_MANY_ONCE` stores them, with which also the first response is rendered */
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

/** An idempotency key, as `INSERT_ONCE` and `INSERT_MANY_ONCE` return it. */
interface KeyRow {
  readonly key: string;
  readonly fingerprint: string;
  readonly id: number;
}

/** Without a row, the only book of the statement was not stored. @throws TableRejection */
function expectKey(row: KeyRow | undefined): KeyRow {
  if (!row) throw new TableRejection(LEFT_OUT);
  return row;
}

/** Splits a text before the last character of the separator, which is not in the first part. */
function split(text: string, separator: string): readonly [string, string] {
  const index = text.indexOf(separator);
  return index === -1 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}
