import type { Client, ClientBase } from 'pg';
import { changesOf, ID_MAX } from '../../book/book.ts';
import { LEFT_OUT, type ListPage, PAGE_BYTES_MAX, TableRejection } from '../../book/book-store.ts';
import type { Book, BookFields } from '../../book/contract.ts';
import { type BookArchive, type ChangedBook, conflictOutcome, type InsertOutcome } from '../book-archive.ts';
import { FIELD_LIST } from '../each-field.ts';
import { PAGE_BOOKS_MAX } from '../page.ts';
import { SELECT } from './batches/finds.ts';
import { INSERT_PLAIN, mayRetryInsert } from './batches/inserts.ts';
import { UPDATE_EXPECTED } from './batches/updates.ts';
import { columnParameters, idsOf, matchIds, toColumns } from './book-columns.ts';
import { expectBooks, expectUtf8, prepareTables } from './books-table.ts';
import { type Citus, findCitus, prepareCitus } from './citus/citus.ts';
import { nameConstraint } from './citus/citus-database.ts';
import { CitusPages, LONG_PAGE_BOOKS } from './citus/citus-pages.ts';
import { connect } from './connection/connect.ts';
import type { Conninfo } from './connection/conninfo.ts';
import { toStoreError } from './errors.ts';
import { ADVANCE_ID_SEQUENCE, advanceIdSequence, LOCK_IDS } from './id-sequence.ts';
import { readState } from './migrations.ts';
import { type ColumnsRow, renderPage, SELECT_PAGE } from './pages.ts';
import { retry } from './pool/pool.ts';
import { toTableRejection } from './table-rejections.ts';

const INSERT_WITH_IDS = `
  insert into books (id, ${FIELD_LIST}) overriding system value
  select id, ${FIELD_LIST}
  from unnest($1::bigint[], ${columnParameters(2)}) with ordinality as given (id, ${FIELD_LIST}, position)
  order by position
  on conflict (id) do nothing
  returning id
`;

/** See `Engine.openArchiveForReading`. */
export function openArchiveForReading(conninfo: Conninfo): Promise<BookArchive> {
  return open(conninfo, async (client) => {
    await expectUtf8(client);
    await readState(client);
    await expectBooks(client);
    return findCitus(client);
  });
}

/** See `Engine.openArchive`. */
export function openArchive(conninfo: Conninfo): Promise<BookArchive> {
  return open(conninfo, async (client) => {
    await prepareTables(client);
    return prepareCitus(client);
  });
}

async function open(
  conninfo: Conninfo,
  prepare: (client: ClientBase) => Promise<Citus | undefined>,
): Promise<BookArchive> {
  let citus: Citus | undefined;
  const { client } = await connect(conninfo, async (connected) => {
    citus = await retry(() => prepare(connected));
  });
  return new PostgresArchive(client, citus);
}

class PostgresArchive implements BookArchive {
  readonly #client: Client;
  /** On Citus. */
  readonly #citusPages: CitusPages | undefined;
  #isInTransaction = false;
  /** Whether the transaction has inserted given ids; it locks ids then, until its end. */
  #hasGivenIds = false;

  constructor(client: Client, citus: Citus | undefined) {
    this.#client = client;
    this.#citusPages = citus && new CitusPages(({ text }, values) => this.#query(text, values));
  }

  async *pages(): AsyncGenerator<Uint8Array> {
    await this.#query('begin transaction isolation level repeatable read read only');
    try {
      let after: number | undefined = -ID_MAX - 1;
      while (after !== undefined) {
        const page: ListPage = renderPage(await this.#readPage(after), PAGE_BYTES_MAX);
        if (page.json.length > 0) yield page.json;
        after = page.last;
      }
    } finally {
      await this.#query('rollback');
    }
  }

  async add(books: readonly BookFields[]): Promise<void> {
    const insert = () => this.#client.query(INSERT_PLAIN, toColumns(books));
    const advance = () => retry(() => advanceIdSequence(this.#client));
    await this.#report(() =>
      this.#isInTransaction ? this.#allOrNone(insert) : retry(insert, mayRetryInsert(advance)),
    );
  }

  addWithIds(books: readonly Book[]): Promise<InsertOutcome[]> {
    return this.#inTransaction(() => this.#addWithIds(books));
  }

  async find(ids: readonly number[]): Promise<(Book | undefined)[]> {
    return matchIds(ids, await this.#query<Book>(SELECT.text, [ids]));
  }

  update(changes: readonly ChangedBook[]): Promise<boolean[]> {
    return this.#inTransaction(() => this.#update(changes));
  }

  async begin(): Promise<void> {
    await this.#query('begin');
    this.#isInTransaction = true;
  }

  async commit(): Promise<void> {
    if (this.#hasGivenIds) await this.#query(ADVANCE_ID_SEQUENCE);
    await this.#query('commit');
    this.#isInTransaction = false;
    this.#hasGivenIds = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end();
  }

  /** Runs several statements in the current transaction, or in one of their own. */
  async #inTransaction<Result>(run: () => Promise<Result>): Promise<Result> {
    if (this.#isInTransaction) return this.#allOrNone(run);
    await this.begin();
    try {
      const result = await run();
      await this.commit();
      return result;
    } finally {
      if (this.#isInTransaction) await this.#rollback();
    }
  }

  async #rollback(): Promise<void> {
    this.#isInTransaction = false;
    this.#hasGivenIds = false;
    // Without a connection it is rolled back, too, and there is an earlier error.
    await this.#client.query('rollback').catch(() => {});
  }

  /** Undoes a part of the transaction that is rejected, so that the transaction can go on. */
  async #allOrNone<Result>(run: () => Promise<Result>): Promise<Result> {
    await this.#query('savepoint part');
    try {
      const result = await run();
      await this.#query('release part');
      return result;
    } catch (error) {
      await this.#client.query('rollback to part').catch(() => {});
      throw error;
    }
  }

  async #readPage(after: number): Promise<ColumnsRow> {
    if (this.#citusPages) return this.#citusPages.read(after, LONG_PAGE_BOOKS);
    const [row] = await this.#query<ColumnsRow>(SELECT_PAGE.one, [after, PAGE_BOOKS_MAX, PAGE_BYTES_MAX]);
    return row as ColumnsRow;
  }

  async #addWithIds(books: readonly Book[]): Promise<InsertOutcome[]> {
    if (!this.#hasGivenIds) await this.#query(LOCK_IDS);
    this.#hasGivenIds = true;
    const ids = idsOf(books);
    const rows = await this.#query<{ id: number }>(INSERT_WITH_IDS, [ids, ...toColumns(books)]);
    const stored = new Set(idsOf(rows));
    if (stored.size === books.length) return books.map(() => 'stored');
    // Of several books with the same id, the first was stored.
    const isStored = ids.map((id) => stored.delete(id));
    const conflicting = ids.filter((_, index) => !isStored[index]);
    const others = matchIds(ids, await this.#query<Book>(SELECT.text, [conflicting]));
    return books.map((book, index) => {
      if (isStored[index]) return 'stored';
      const other = others[index];
      if (!other) throw new TableRejection(LEFT_OUT);
      return conflictOutcome(other, book);
    });
  }

  async #update(changes: readonly ChangedBook[]): Promise<boolean[]> {
    const before = changes.map((change) => change.before);
    const ids = idsOf(before);
    const fields = toColumns(changes.map((change) => changesOf(change.before, change.after)));
    const columns = [ids, ...fields, ...toColumns(before)];
    const { one, text } = UPDATE_EXPECTED;
    if (!this.#citusPages) {
      const updated = new Set(idsOf(await this.#query<Book>(text, columns)));
      return ids.map((id) => updated.has(id));
    }
    const outcomes: boolean[] = [];
    for (const index of ids.keys()) {
      const values = columns.map((column) => column[index]);
      outcomes.push((await this.#query(one, values)).length > 0);
    }
    return outcomes;
  }

  async #query<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    const { rows } = await this.#report(() => this.#client.query<Row>(text, values));
    return rows;
  }

  async #report<Result>(operation: () => Promise<Result>): Promise<Result> {
    try {
      return await operation();
    } catch (thrown) {
      const error = this.#citusPages ? nameConstraint(thrown) : thrown;
      throw toStoreError(toTableRejection(error));
    }
  }
}
