import type { ClientBase } from 'pg';
import { type Book, type BookFields, ID_MAX } from '../../book/book.ts';
import { type BookArchive, conflictOutcome, type InsertOutcome } from '../book-archive.ts';
import { type PageRow, readPages } from '../page.ts';
import { IdsExhausted, StoreNotReady } from '../store-errors.ts';
import { columnsOf } from './batches/inserts.ts';
import { matchIds } from './batches/result-rows.ts';
import { isSerializationFailure, reasonOf, sqlState, toStoreError, violatedConstraint } from './errors.ts';
import type { Conninfo } from './pool/conninfo.ts';
import { Servers } from './pool/servers.ts';
import {
  ADVANCE_ID_SEQUENCE,
  advanceIdSequence,
  expectBooks,
  expectPrivileges,
  expectUtf8,
  ID_CHECK,
  LOCK_IDS,
  prepareSchema,
} from './schema.ts';
import { INSERT_PLAIN, INSERT_WITH_IDS, SELECT, SELECT_PAGE } from './sql.ts';

/**
 * Connects to a PostgreSQL database to read it, without a change to it.
 *
 * @throws StoreNotReady when the server cannot be reached, or there are no books
 */
export function openArchiveForReading(conninfo: Conninfo): Promise<BookArchive> {
  return open(conninfo, async (client) => {
    await expectUtf8(client);
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
    await client.query(SETTINGS);
    await prepare(client);
    return new PostgresArchive(client, () => client.end());
  } catch (error) {
    await client.end();
    if (error instanceof StoreNotReady) throw error;
    throw new StoreNotReady(`the table books cannot be prepared (${reasonOf(error)})`);
  }
}

/** A server that acknowledges commits before they are on disk is told not to; and pages are found by their ids. */
const SETTINGS = `
  select case current_setting('synchronous_commit') when 'off' then set_config('synchronous_commit', 'on', false) end,
    (select set_config(name, 'off', false) from pg_settings where name = 'enable_seqscan')
`;

/** How often books are sent that lose against others. */
const ATTEMPTS_MAX = 5;

class PostgresArchive implements BookArchive {
  readonly #client: ClientBase;
  readonly #end: () => Promise<void>;
  /** Whether all that is added is one transaction. */
  #isInTransaction = false;
  /** Ids that are locked already stay so until the end of that. */
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
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#client.query(INSERT_PLAIN, columnsOf(books));
        return;
      } catch (error) {
        const isFinal = this.#isInTransaction || attempt === ATTEMPTS_MAX;
        // Somebody chose ids that the sequence has yet to come to.
        if (!isFinal && sqlState(error) === '23505')
          await this.#report(() => advanceIdSequence(this.#client));
        else if (isFinal || !isSerializationFailure(error)) throw toError(error);
      }
    }
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
    const [row] = await this.#query<{ count: number; last: number; json: string | null }>(SELECT_PAGE.text, [
      after,
      limit,
    ]);
    if (!row) throw new Error('a page without a row');
    const { count, last, json } = row;
    // The driver's results hold on to each other until a whole collection; they need not keep their text.
    row.json = null;
    return { count, last, json: json === null ? null : Buffer.from(json) };
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
