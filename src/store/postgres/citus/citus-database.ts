import { DatabaseError } from 'pg';
import { StoreUnavailable, UPDATED_BYTES_MAX } from '../../../book/book-store.ts';
import type { UpdateItem } from '../../../book/book-update.ts';
import { type BookFields, FIELD_NAMES } from '../../../book/contract.ts';
import { FIELD_LIST } from '../../each-field.ts';
import { failUnless } from '../batches/all-or-none.ts';
import { foundKey, IS_EXPIRED, NEW_KEY } from '../batches/idempotency-keys.ts';
import { INSERT, INSERT_MANY_ONCE, INSERT_ONCE, JSON_FIELDS, keptBooks } from '../batches/inserts.ts';
import {
  ARE_CHANGED,
  digestOf,
  GIVEN_UPDATES,
  isTagged,
  RENDER_UPDATED,
  sentBytes,
  UPDATE_MANY,
  type UpdatedRow,
  updatesIf,
} from '../batches/update-many.ts';
import { fieldParameters, matchIds, textBytes } from '../book-columns.ts';
import { means } from '../error-codes.ts';
import { CHECKS, KEY_CONSTRAINT } from '../migrations.ts';
import { SELECT_PAGE } from '../pages.ts';
import { type BatchStatement, type Columns, Database, type Statement } from '../pool/database.ts';
import type { ConnectionPool, MayRetry } from '../pool/pool.ts';
import { CitusPages } from './citus-pages.ts';
import type { Shards } from './shards.ts';

/**
 * Runs the statements of PostgreSQL on a table that Citus distributes, some of them in another form with the same
 * parameters and rows. A write on one shard is a transaction of one server, which is several times faster than a
 * distributed one; so the ids of a batch of new books are of one shard, and updates and deletes are of one book.
 */
export class CitusDatabase extends Database {
  readonly #shards: Shards;
  readonly #pages: CitusPages;

  constructor(pool: ConnectionPool, shards: Shards) {
    super(pool);
    this.#shards = shards;
    this.#pages = new CitusPages((statement, values) => super.attempt(statement, values));
  }

  /** Citus locks no rows of several shards: a change between the two statements of `UPDATE_MANY` fails the second; both are repeated. */
  override async query<Row extends object>(
    statement: Statement,
    values: unknown[],
    mayRetry?: MayRetry,
  ): Promise<Row[]> {
    if (statement !== UPDATE_MANY) return super.query(statement, values, mayRetry);
    try {
      return await super.query(statement, values, hasConflict);
    } catch (error) {
      throw hasConflict(error) ? new StoreUnavailable('contention') : error;
    }
  }

  protected override async attempt<Row extends object>(
    statement: Statement,
    values: unknown[],
  ): Promise<Row[]> {
    try {
      if (statement === UPDATE_MANY) return (await this.#updateMany(values as [Buffer])) as object[] as Row[];
      if (statement === INSERT_MANY_ONCE)
        return (await this.#insertManyOnce(values as [Buffer, string, string])) as Row[];
      return await super.attempt(statement, values);
    } catch (error) {
      throw nameConstraint(error);
    }
  }

  protected override async attemptBatch<Row extends object>(
    statement: BatchStatement,
    columns: Columns,
  ): Promise<Row[]> {
    try {
      if (statement === SELECT_PAGE) return (await this.#selectPages(columns)) as Row[];
      if (statement === INSERT) return (await this.#insert(columns)) as Row[];
      if (statement === INSERT_ONCE) return (await this.#insertOnce(columns)) as Row[];
      if (columns[0]?.length === 0) return await super.attempt(SELECT_NONE, []);
      return await super.attemptBatch(statement, columns);
    } catch (error) {
      throw nameConstraint(error);
    }
  }

  async #selectPages([after, limits]: Columns): Promise<object[]> {
    const rows: object[] = [];
    for (const [index, start] of (after as readonly number[]).entries())
      rows.push(await this.#pages.read(start, limits?.[index] as number));
    return rows;
  }

  async #insert(columns: Columns): Promise<object[]> {
    const books = toBooks(columns);
    const ids = await this.#drawIds(books.length);
    const stored = books.map((fields, index) => ({ id: ids[index], ...fields }));
    await super.attempt(insertOf(stored.length), stored.flatMap(Object.values));
    // As JSON has it, which knows no -0.
    return stored.map((book) => ({ ...book, year: book.year + 0 }));
  }

  async #insertOnce([keys = [], fingerprints = [], ...fields]: Columns): Promise<object[]> {
    const known = await this.#findKeys(keys, fingerprints);
    const knownKeys = new Set<unknown>(known.map(({ key }) => key));
    const given = toBooks(fields).map((book, index) => ({
      book,
      key: keys[index],
      fingerprint: fingerprints[index],
    }));
    const fresh = given.filter(({ key }) => !knownKeys.has(key));
    if (fresh.length === 0) return known;
    const ids = await this.#drawIds(fresh.length);
    const rows = fresh.flatMap(({ book, key, fingerprint }, index) => {
      const id = ids[index];
      const kept = `${String(fingerprint)}${JSON.stringify({ id, ...book })}`;
      return [id, key, kept, ...Object.values(book)];
    });
    return [...known, ...(await super.attempt(insertOnceOf(fresh.length), rows))];
  }

  async #insertManyOnce([json, key, fingerprint]: [Buffer, string, string]): Promise<object[]> {
    const known = await this.#findKeys([key], [fingerprint]);
    return known.length > 0 ? known : super.attempt(INSERT_MANY_WITH_KEY, [json, key, fingerprint]);
  }

  /** The keys among these that are known. Expired ones are deleted. */
  async #findKeys(
    keys: readonly unknown[],
    fingerprints: readonly unknown[],
  ): Promise<{ readonly key: string }[]> {
    const found = await super.attempt<{ key: string; isExpired: boolean }>(FIND_KEYS, [keys, fingerprints]);
    const [expired = [], known = []] = [true, false].map((is) =>
      found.filter(({ isExpired }) => isExpired === is),
    );
    if (expired.length > 0) await super.attempt(DELETE_EXPIRED, [expired.map(({ key }) => key)]);
    return known;
  }

  /** @throws a conflict, see {@link hasConflict} */
  async #updateMany([json]: [Buffer]): Promise<UpdatedRow[]> {
    const updates = JSON.parse(json.toString()) as UpdateItem[];
    const rows = await super.attempt<FoundRow>(FIND_MANY, [json]);
    const fault = findFault(updates, rows);
    if (fault) return [{ json: '', ...fault }];
    const digests = new Map(rows.map(({ id, digest }) => [id, digest]));
    const expected = updates.map((update) => ({ ...update, tags: digests.get(update.id) ?? undefined }));
    return super.attempt<UpdatedRow>(UPDATE_FOUND, [Buffer.from(JSON.stringify(expected))]);
  }

  /** Draws unused ids of one shard; the others remain unused. */
  async #drawIds(count: number): Promise<number[]> {
    for (;;) {
      const rows = await super.attempt<{ ids: string }>(DRAW_IDS, [this.#shards.idsToDraw(count)]);
      const ids = this.#shards.selectOfOne((rows[0]?.ids ?? '').split(',').map(Number), count);
      if (ids) return ids;
    }
  }
}

/** The books of `toColumns`, with all their fields. */
function toBooks(columns: Columns): BookFields[] {
  const { length } = columns[0] ?? [];
  return Array.from({ length }, (_, row) => {
    const fields = FIELD_NAMES.map((name, column) => [name, columns[column]?.[row]]);
    return Object.fromEntries(fields) as BookFields;
  });
}

/** Adds the constraint that an error violates: Citus names that of a shard, such as `books_id_exact_102008`, and in the message only. */
export function nameConstraint(error: unknown): unknown {
  if (!(error instanceof DatabaseError) || error.constraint !== undefined) return error;
  const [, constraint] = CONSTRAINT.exec(error.message) ?? [];
  return constraint === undefined ? error : Object.assign(error, { constraint });
}

const CONSTRAINT = new RegExp(`"(${[...CHECKS, KEY_CONSTRAINT].join('|')})(_\\d+)?"`);

/** With more rows than these, statements are not prepared, as there is one for each number of rows. */
const PREPARED_ROWS = 64;

function insertOf(rows: number): Statement {
  return {
    ...nameOf('create', rows),
    text: `insert into books (id, ${FIELD_LIST}) values ${valuesOf(rows, `$1::bigint, ${fieldParameters(2)}`, 1 + FIELD_NAMES.length)}`,
  };
}

function insertOnceOf(rows: number): Statement {
  const parameters = 3 + FIELD_NAMES.length;
  const books = valuesOf(rows, `$1::bigint, ${fieldParameters(4)}`, parameters);
  const keys = valuesOf(rows, '$2::text, $3::text, $1::bigint', parameters);
  return {
    ...nameOf('create once', rows),
    text: `
      with created as (insert into books (id, ${FIELD_LIST}) values ${books} returning id)
      insert into idempotency_keys (key, fingerprint, book_id) values ${keys}
      returning ${NEW_KEY}
    `,
  };
}

function nameOf(name: string, rows: number): { readonly name?: string } {
  return rows > PREPARED_ROWS ? {} : { name: `${name} ${rows}` };
}

/** The list of `values`. @param row the first row of it @param parameters the number of its parameters */
function valuesOf(rows: number, row: string, parameters: number): string {
  const numbered = (index: number) =>
    row.replace(/\$(\d+)/g, (_, number: string) => `$${index * parameters + Number(number)}`);
  return Array.from({ length: rows }, (_, index) => `(${numbered(index)})`).join(', ');
}

/** A division by zero, with which `UPDATE_FOUND` ends if a book is missing or is another one than was found. */
function hasConflict(error: unknown): boolean {
  return means(error, 'division by zero');
}

/** A book that is to be changed. @see FIND_MANY */
interface FoundRow {
  readonly id: number;
  readonly bytes: number;
  /** Null when it is to be deleted. */
  readonly sentBytes: number | null;
  readonly isTagged: boolean;
  /** Null when any version of the book may be changed. */
  readonly digest: string | null;
}

const FIND_MANY: Statement = {
  name: 'find many',
  text: `
    with ${GIVEN_UPDATES}
    select id, bytes, "sentBytes", "isTagged", digest
    from (
      select books.id, ${textBytes('books.')} as bytes,
        case when "isDeleted" is null then ${sentBytes('books')} end as "sentBytes", ${isTagged('books')} as "isTagged",
        case when tags is not null then ${digestOf('books')} end as digest
      from given join books on books.id = given.id
    ) as found
  `,
};

/** In an update, Citus allows no function that is only stable, as `convert_to` is. The digests are in the place of the tags. */
const UPDATE_FOUND: Statement = {
  name: 'update found',
  text: `
    with ${GIVEN_UPDATES}, ${updatesIf(`(tags is null or tags = ${digestOf('books')})`)}
    select json, null as fault, 0 as index,
      ${failUnless(ARE_CHANGED)} as "isWhole"
    from (${RENDER_UPDATED}) as changed
  `,
};

function findFault(
  updates: readonly UpdateItem[],
  rows: readonly FoundRow[],
): Pick<UpdatedRow, 'fault' | 'index'> | undefined {
  if (rows.reduce((sum, { bytes }) => sum + bytes, 0) > UPDATED_BYTES_MAX)
    return { fault: 'too long', index: 0 };
  const found = matchIds(
    updates.map(({ id }) => id),
    rows,
  );
  const index = found.findIndex((row) => !row?.isTagged);
  if (index !== -1) return { fault: found[index] ? 'other tag' : 'absent', index };
  const sent = rows.reduce((sum, row) => sum + (row.sentBytes ?? 0), 0);
  return sent > UPDATED_BYTES_MAX ? { fault: 'too long', index: 0 } : undefined;
}

const FIND_KEYS: Statement = {
  name: 'find keys',
  text: `
    select ${foundKey('= any($2::text[])')}, ${IS_EXPIRED} as "isExpired"
    from idempotency_keys where key = any($1::text[])
  `,
};

const DELETE_EXPIRED: Statement = {
  name: 'remove keys of',
  text: `delete from idempotency_keys where key = any($1::text[]) and ${IS_EXPIRED}`,
};

const INSERT_MANY_WITH_KEY: Statement = {
  name: 'create many once',
  text: `
    with created as (
      insert into books (${FIELD_LIST})
      select ${JSON_FIELDS}
      from json_array_elements($1::json) with ordinality as given (book, position)
      order by position
      returning id, ${FIELD_LIST}
    ), books as (${keptBooks('$3::text')}), keyed as (
      insert into idempotency_keys (key, fingerprint, book_id)
      select $2::text, kept, first from books
      returning ${NEW_KEY}
    )
    select * from keyed
  `,
};

const DRAW_IDS: Statement = {
  name: 'draw ids',
  text: `
    select string_agg(nextval(name)::text, ',') as ids
    from (select pg_get_serial_sequence('books', 'id')::regclass as name offset 0) as sequence,
      generate_series(1, $1::integer)
  `,
};

const SELECT_NONE: Statement = { name: 'find none', text: 'select id from books where false' };
