import { LEFT_OUT, TableRejection } from '../../../book/book-store.ts';
import type { Book, BookFields } from '../../../book/contract.ts';
import { eachField, FIELD_LIST } from '../../each-field.ts';
import { createdBook, createdBooks, fingerprintOf, fingerprintOfMany } from '../../idempotency.ts';
import { BOOK_COLUMNS, columnParameters, fieldParameters, toColumns, typeOf } from '../book-columns.ts';
import { means, violatedConstraint } from '../error-codes.ts';
import { KEY_CONSTRAINT } from '../migrations.ts';
import type { BatchStatement, Database, Statement } from '../pool/database.ts';
import type { MayRetry } from '../pool/pool.ts';
import { failUnless, joinArrays } from './all-or-none.ts';
import {
  createdFor,
  isNew,
  KEYS_OF_ALL,
  KeyRemoval,
  type KeyRow,
  knownKeys,
  NEW_KEY,
} from './idempotency-keys.ts';

/** Inserts books. @param from rows with their fields, which get ids in this order */
const insertFrom = (from: string, returning = BOOK_COLUMNS) =>
  `insert into books (${FIELD_LIST}) select ${FIELD_LIST} from ${from} returning ${returning}`;

/** Inserts books that are the parameters, as {@link toColumns} makes them. */
const insertColumns = (returning: string) =>
  insertFrom(
    `unnest(${columnParameters(1)}) with ordinality as given (${FIELD_LIST}, position) order by position`,
    returning,
  );
/** PostgreSQL returns the rows of a `with` in the order in which the insert has returned them, so each is that of its call. */
const ARE_STORED = failUnless('cardinality($1) = (select count(*) from stored)');

/**
 * In short, of one: `insert into books (title, author, year) values ($1, $2, $3) returning id, title, author, year`. As in all statements
 * that change books, the triggers of the log and of the search index run in it (changes/postgres/tables.ts, search/postgres/schema.ts).
 */
export const INSERT: BatchStatement = {
  name: 'create',
  text: `with stored as (${insertColumns(BOOK_COLUMNS)}) select id, ${FIELD_LIST} from stored where ${ARE_STORED}`,
  one: `insert into books (${FIELD_LIST}) values (${fieldParameters(1)}) returning ${BOOK_COLUMNS}`,
};
/** The same without their ids. */
export const INSERT_PLAIN = `with stored as (${insertColumns('1')}) select ${ARE_STORED}`;

/**
 * Inserts books with idempotency keys that are new or expired: the parameters are keys, fingerprints and fields. It violates the primary
 * key if another session inserts one of them at the same time.
 */
export const INSERT_ONCE: BatchStatement = {
  name: 'create once',
  text: `
  with ${knownKeys('key = any((select $1::text[])::text[])', '= any((select $2::text[])::text[])')}, given as materialized (
    select *, row_number() over (order by position) as nth
    from unnest($1::text[], $2::text[], ${columnParameters(3)}) with ordinality
      as given (key, fingerprint, ${FIELD_LIST}, position)
    where ${isNew('given.key')}
  ), stored as (${insertFrom('given order by nth')}), created as (
    select id, row_to_json(stored)::text as json, row_number() over () as nth from stored
  ), keyed as (
    insert into idempotency_keys (key, fingerprint, book_id)
    select key, fingerprint || json, id
    from given join created using (nth)
    where ${failUnless('(select count(*) from given) = (select count(*) from stored)')}
    order by key
    returning ${NEW_KEY}
  )
  ${KEYS_OF_ALL}
`,
  one: `
  with ${knownKeys('key = $1::text', '= $2::text')}, created as (
    insert into books (${FIELD_LIST}) select ${fieldParameters(3)} where ${isNew('$1::text')}
    returning ${BOOK_COLUMNS}
  ), keyed as (
    insert into idempotency_keys (key, fingerprint, book_id)
    select $1::text, $2::text || row_to_json(created)::text, id from created
    returning ${NEW_KEY}
  )
  ${KEYS_OF_ALL}
`,
};

/** The fields of `book`, an object of JSON. */
export const JSON_FIELDS = eachField((name) => `(book ->> '${name}')::${typeOf(name)} as ${name}`);

const insertJsonIf = (condition: string) => `
  given as materialized (
    select ${JSON_FIELDS}, position
    from json_array_elements($1::json) with ordinality as given (book, position)
    where ${condition}
  ), created as (${insertFrom('given order by position')})
`;
const ARE_CREATED = failUnless('(select count(*) from given) = (select count(*) from created)');
const RENDER_CREATED = `coalesce(string_agg(row_to_json(created)::text, ',' order by id), '')`;

const INSERT_MANY: Statement = {
  name: 'create many',
  text: `with ${insertJsonIf('true')} select ${RENDER_CREATED} as json, ${ARE_CREATED} as "isWhole" from created`,
};

/** What a key keeps of the books that it has created. @param fingerprint a parameter */
export const keptBooks = (fingerprint: string) =>
  `select ${fingerprint} || '[' || ${RENDER_CREATED} || ']' as kept, coalesce(min(id), 0) as first from created`;

/** Inserts books with an idempotency key, if it is new or expired. It violates the primary key like {@link INSERT_ONCE}. */
export const INSERT_MANY_ONCE: Statement = {
  name: 'create many once',
  text: `
  with ${knownKeys('key = $2::text', '= $3::text')}, ${insertJsonIf(isNew('$2::text'))}, keyed as (
    insert into idempotency_keys (key, fingerprint, book_id)
    select $2::text, kept, first from (${keptBooks('$3::text')}) as books
    where ${isNew('$2::text')} and ${ARE_CREATED}
    returning ${NEW_KEY}
  )
  ${KEYS_OF_ALL}
`,
};

export interface KeyedBook {
  readonly fields: BookFields;
  readonly key: string;
}

/** The creates of the store: single ones in a batch, and those of many books, with and without idempotency keys. */
export class Inserts {
  readonly #database: Database;
  readonly #bulkDatabase: Database;
  readonly #keyRemoval: KeyRemoval;

  /** @param bulkDatabase the same database over a pool with a longer statement timeout */
  constructor(database: Database, bulkDatabase: Database) {
    this.#database = database;
    this.#bulkDatabase = bulkDatabase;
    this.#keyRemoval = new KeyRemoval(database);
  }

  async create(books: readonly BookFields[]): Promise<Book[]> {
    const rows = await this.#database.queryBatch<Book>(INSERT, toColumns(books), this.#mayRetry());
    // A trigger of the table may store other texts, or leave out a book, which is a rejection; of several, the statement fails.
    if (rows.length === 0) throw new TableRejection(LEFT_OUT);
    return rows;
  }

  async createOnce(books: readonly KeyedBook[]): Promise<(Book | undefined)[]> {
    void this.#keyRemoval.removeExpired();
    const fingerprints = books.map(({ fields }) => fingerprintOf(fields));
    const columns = [
      books.map(({ key }) => key),
      fingerprints,
      ...toColumns(books.map(({ fields }) => fields)),
    ];
    const rows = await this.#database.queryBatch<KeyRow>(INSERT_ONCE, columns, this.#mayRetry());
    const byKey = new Map(rows.map((row) => [row.key, row]));
    return books.map(({ fields, key }, index) => {
      const created = createdFor(byKey.get(key), fingerprints[index] as string);
      return created && createdBook(created, fields);
    });
  }

  /** One statement, so that it is atomic. */
  async createMany(arrays: readonly Uint8Array[], key?: string): Promise<Uint8Array[] | undefined> {
    const json = joinArrays(arrays);
    const mayRetry = this.#mayRetry();
    if (key === undefined) {
      const [row] = await this.#bulkDatabase.query<{ json: string }>(INSERT_MANY, [json], mayRetry);
      return [Buffer.from(row?.json ?? '')];
    }
    void this.#keyRemoval.removeExpired();
    const fingerprint = fingerprintOfMany(arrays);
    const [row] = await this.#bulkDatabase.query<KeyRow>(
      INSERT_MANY_ONCE,
      [json, key, fingerprint],
      mayRetry,
    );
    const created = createdFor(row, fingerprint);
    return created && createdBooks(created, arrays);
  }

  #mayRetry(): MayRetry {
    return mayRetryInsert(() => this.#database.advanceIdSequence());
  }
}

/**
 * After which errors an insert is repeated, besides those of all statements: another session has stored one of its keys at the same
 * time, which the next attempt finds; or, once, other clients have inserted ids beyond the sequence, which is moved past them before.
 */
export function mayRetryInsert(advanceIdSequence: () => Promise<void>): MayRetry {
  let isAdvanced = false;
  return async (error) => {
    if (!means(error, 'not unique')) return false;
    if (violatedConstraint(error) === KEY_CONSTRAINT) return true;
    if (isAdvanced) return false;
    isAdvanced = true;
    await advanceIdSequence();
    return true;
  };
}
