import type { ClientBase } from 'pg';
import { type Book, type BookFields, ID_MAX } from '../../book/book.ts';
import { type BookArchive, conflictOutcome, type InsertOutcome } from '../book-archive.ts';
import { type PageRow, readPages } from '../page.ts';
import { IdsExhausted, StoreNotReady } from '../store-errors.ts';
import { insertWithUnusedIds } from './batches/inserts.ts';
import { reasonOf, toStoreError, violatedConstraint } from './errors.ts';
import { ID_CHECK, readState } from './migrations.ts';
import { PREPARE_TIMEOUT_MS } from './pool/client-connection.ts';
import type { Conninfo } from './pool/conninfo.ts';
import { retry } from './pool/retry.ts';
import { Servers } from './pool/servers.ts';
import { configure } from './pool/session-settings.ts';
import {
  ADVANCE_ID_SEQUENCE,
  advanceIdSequence,
  expectBooks,
  expectPrivileges,
  expectUtf8,
  LOCK_IDS,
  prepareSchema,
} from './schema.ts';
import {
  columnsOf,
  INSERT_PLAIN,
  INSERT_WITH_IDS,
  matchIds,
  type RenderedRow,
  SELECT,
  SELECT_PAGE,
  toPageRow,
} from './sql.ts';

/**
 * Connects to a PostgreSQL database to read it, without a change to it.
 *
 * @throws StoreNotReady when the server cannot be reached, or there are no books
 */
export function openArchiveForReading(conninfo: Conninfo): Promise<BookArchive> {
  return open(conninfo, async (client) => {
    await expectUtf8(client);
    await readState(client);
    await expectPrivileges(client, ['select']);
    await expectBooks(client);
  });
}

/**
 * Connects to a PostgreSQL database and prepares its storage structure.
 *
 * @throws StoreNotReady when the server cannot be reached or the structure cannot be prepared
 */
export function openArchive(conninfo: Conninfo): Promise<BookArchive> {
  return open(conninfo, prepareSchema);
}

async function open(
  conninfo: Conninfo,
  prepare: (client: ClientBase) => Promise<void>,
): Promise<BookArchive> {
  const { client } = await Servers.find(conninfo);
  try {
    await configure(client, PREPARE_TIMEOUT_MS);
    await retry(() => prepare(client));
    return new PostgresArchive(client, () => client.end());
  } catch (error) {
    await client.end();
    if (error instanceof StoreNotReady) throw error;
    throw new StoreNotReady(`the table books cannot be prepared (${reasonOf(error)})`);
  }
}

class PostgresArchive implements BookArchive {
  readonly #client: ClientBase;
  readonly #end: () => Promise<void>;
  /** Between {@link begin} and {@link commit}. */
  #isInTransaction = false;
  /** Whether the transaction has locked ids; the lock lasts until its end. */
  #hasLock = false;

  constructor(client: ClientBase, end: () => Promise<void>) {
    this.#client = client;
    this.#end = end;
  }

  async *pages(): AsyncGenerator<Uint8Array> {
    await this.#query('begin transaction isolation level repeatable read read only');
    try {
      let after: number | undefined = -ID_MAX - 1;
      while (after !== undefined) {
        const [page] = await readPages([after], (last, limit) => this.#readPage(last, limit));
        if (page && page.json.length > 0) yield page.json;
        after = page?.last;
      }
    } finally {
      await this.#query('rollback');
    }
  }

  async add(books: readonly BookFields[]): Promise<void> {
    const insert = () => this.#client.query(INSERT_PLAIN, columnsOf(books));
    await this.#report(() => {
      if (this.#isInTransaction) return insert();
      const advance = () => retry(() => advanceIdSequence(this.#client));
      return insertWithUnusedIds(() => retry(insert), advance);
    });
  }

  async addWithIds(books: readonly Book[]): Promise<InsertOutcome[]> {
    if (this.#isInTransaction) return this.#addWithIds(books);
    await this.begin();
    const arrivals = await this.#addWithIds(books);
    await this.commit();
    return arrivals;
  }

  async begin(): Promise<void> {
    await this.#query('begin');
    this.#isInTransaction = true;
  }

  async commit(): Promise<void> {
    if (this.#hasLock) await this.#query(ADVANCE_ID_SEQUENCE);
    await this.#query('commit');
    this.#isInTransaction = false;
    this.#hasLock = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }

  async #readPage(after: number, limit: number): Promise<PageRow> {
    return toPageRow(await this.#query<RenderedRow>(SELECT_PAGE.text, [after, limit]));
  }

  async #addWithIds(books: readonly Book[]): Promise<InsertOutcome[]> {
    if (!this.#hasLock) await this.#query(LOCK_IDS);
    this.#hasLock = true;
    const ids = books.map(({ id }) => id);
    const rows = await this.#query<{ id: number }>(INSERT_WITH_IDS, [ids, ...columnsOf(books)]);
    const stored = new Set(rows.map(({ id }) => id));
    if (stored.size === books.length) return books.map(() => 'stored');
    // Of several with one id the first was stored.
    const isStored = ids.map((id) => stored.delete(id));
    const others = matchIds(
      ids,
      await this.#query<Book>(SELECT.text, [ids.filter((_, index) => !isStored[index])]),
    );
    return books.map((book, index) => (isStored[index] ? 'stored' : conflictOutcome(others[index], book)));
  }

  /** @throws errors in the terms of the interface */
  async #query<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    const { rows } = await this.#report(() => this.#client.query<Row>(text, values));
    return rows;
  }

  async #report<Result>(operation: () => Promise<Result>): Promise<Result> {
    try {
      return await operation();
    } catch (error) {
      throw toError(error);
    }
  }
}

/** An error in the terms of the interface. */
function toError(error: unknown): unknown {
  const isUsedUp = violatedConstraint(error) === ID_CHECK;
  return isUsedUp ? new IdsExhausted() : toStoreError(error);
}
