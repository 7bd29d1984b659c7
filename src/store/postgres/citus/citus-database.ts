import { DatabaseError } from 'pg';
import type { UpdateItem } from '../../../book/book.ts';
import { StoreUnavailable, UPDATED_BYTES_MAX } from '../../../book/book-store.ts';
import { sqlState } from '../errors.ts';
import { CHECKS, KEY_CONSTRAINT } from '../migrations.ts';
import { Database } from '../pool/database.ts';
import { type ConnectionPool, retry } from '../pool/pool.ts';
import * as sql from '../sql.ts';
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
    this.#pages = new CitusPages((statement, values) => super.query(statement, values));
  }

  override async query<Row extends object>(statement: sql.Statement, values: unknown[]): Promise<Row[]> {
    try {
      return await this.#query(statement, values);
    } catch (error) {
      throw nameConstraint(error);
    }
  }

  async #query<Row extends object>(statement: sql.Statement, values: unknown[]): Promise<Row[]> {
    if (statement === sql.UPDATE_MANY) {
      const rows: object[] = await this.#updateMany(values as [Buffer]);
      return rows as Row[];
    }
    if (statement === sql.INSERT_MANY_ONCE) {
      const rows: object[] = await this.#insertManyOnce(values as [Buffer, string, string]);
      return rows as Row[];
    }
    return super.query(statement, values);
  }

  override async queryBatch<Row extends object>(
    statement: sql.BatchStatement,
    columns: sql.Columns,
  ): Promise<Row[]> {
    try {
      if (statement === sql.SELECT_PAGE) return (await this.#selectPages(columns)) as Row[];
      if (statement === sql.INSERT) return (await this.#insert(columns)) as Row[];
      if (statement === sql.INSERT_ONCE) return (await this.#insertOnce(columns)) as Row[];
    } catch (error) {
      throw nameConstraint(error);
    }
    return columns[0]?.length === 0 ? super.query(SELECT_NONE, []) : super.queryBatch(statement, columns);
  }

  async #selectPages([after, limits]: sql.Columns): Promise<object[]> {
    const rows: object[] = [];
    for (const [index, start] of (after as readonly number[]).entries())
      rows.push(await this.#pages.read(start, limits?.[index] as number));
    return rows;
  }

  async #insert([titles = [], authors = [], years = []]: sql.Columns): Promise<object[]> {
    const ids = await this.#drawIds(titles.length);
    const rows = ids.map((id, index) => [id, titles[index], authors[index], years[index]]);
    await super.query(insertOf(rows.length), rows.flat());
    // As JSON has it, which knows no -0.
    return rows.map(([id, title, author, year]) => ({ id, title, author, year: (year as number) + 0 }));
  }

  async #insertOnce(columns: sql.Columns): Promise<object[]> {
    const [keys = [], fingerprints = []] = columns.slice(3);
    const known = await this.#findKeys(keys, fingerprints);
    const knownKeys = new Set<unknown>(known.map(({ key }) => key));
    const fresh = columns.map((column) => column.filter((_, index) => !knownKeys.has(keys[index])));
    const count = fresh[0]?.length ?? 0;
    if (count === 0) return known;
    const ids = await this.#drawIds(count);
    const rows = ids.map((id, index) => {
      const [title, author, year, key, fingerprint] = fresh.map((column) => column[index]);
      const kept = `${String(fingerprint)}${JSON.stringify({ id, title, author, year })}`;
      return [id, title, author, year, key, kept];
    });
    return [...known, ...(await super.query(insertOnceOf(rows.length), rows.flat()))];
  }

  async #insertManyOnce([json, key, fingerprint]: [Buffer, string, string]): Promise<object[]> {
    const known = await this.#findKeys([key], [fingerprint]);
    return known.length > 0 ? known : super.query(INSERT_MANY_ONCE, [json, key, fingerprint]);
  }

  /** The keys among these that are known. Expired ones are deleted. */
  async #findKeys(
    keys: readonly unknown[],
    fingerprints: readonly unknown[],
  ): Promise<{ readonly key: string }[]> {
    const found = await super.query<{ key: string; isExpired: boolean }>(FIND_KEYS, [keys, fingerprints]);
    const [expired = [], known = []] = [true, false].map((is) =>
      found.filter(({ isExpired }) => isExpired === is),
    );
    if (expired.length > 0) await super.query(DELETE_EXPIRED, [expired.map(({ key }) => key)]);
    return known;
  }

  /** Citus locks no rows of several shards: a change between the two statements makes the second one fail, and both are repeated. */
  async #updateMany([json]: [Buffer]): Promise<sql.UpdatedRow[]> {
    const updates = JSON.parse(json.toString()) as UpdateItem[];
    const attempt = async () => {
      const rows = await super.query<FoundRow>(FIND_MANY, [json]);
      const fault = findFault(updates, rows);
      if (fault) return [{ json: '', ...fault }];
      const digests = new Map(rows.map(({ id, digest }) => [id, digest]));
      const expected = updates.map((update) => ({ ...update, tags: digests.get(update.id) ?? undefined }));
      return super.query<sql.UpdatedRow>(UPDATE_FOUND, [Buffer.from(JSON.stringify(expected))]);
    };
    try {
      return await retry(attempt, hasConflict);
    } catch (error) {
      throw hasConflict(error) ? new StoreUnavailable('contention') : error;
    }
  }

  /** Draws unused ids of one shard; the others remain unused. */
  async #drawIds(count: number): Promise<number[]> {
    for (;;) {
      const rows = await super.query<{ ids: string }>(DRAW_IDS, [this.#shards.idsToDraw(count)]);
      const ids = this.#shards.selectOfOne((rows[0]?.ids ?? '').split(',').map(Number), count);
      if (ids) return ids;
    }
  }
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

function insertOf(rows: number): sql.Statement {
  return {
    ...nameOf('create', rows),
    text: `insert into books (id, title, author, year) values ${valuesOf(rows, 4, '$1::bigint, $2::text, $3::text, $4::bigint')}`,
  };
}

function insertOnceOf(rows: number): sql.Statement {
  const books = valuesOf(rows, 6, '$1::bigint, $2::text, $3::text, $4::bigint');
  const keys = valuesOf(rows, 6, '$5::text, $6::text, $1::bigint');
  return {
    ...nameOf('create once', rows),
    text: `
      with created as (insert into books (id, title, author, year) values ${books} returning id)
      insert into idempotency_keys (key, fingerprint, book_id) values ${keys}
      returning ${sql.NEW_KEY}
    `,
  };
}

function nameOf(name: string, rows: number): { readonly name?: string } {
  return rows > PREPARED_ROWS ? {} : { name: `${name} ${rows}` };
}

/** The list of `values`. @param row the first row of it, with the parameters of the first of `columns` */
function valuesOf(rows: number, columns: number, row: string): string {
  const numbered = (index: number) =>
    row.replace(/\$(\d)/g, (_, column: string) => `$${index * columns + Number(column)}`);
  return Array.from({ length: rows }, (_, index) => `(${numbered(index)})`).join(', ');
}

/** A division by zero, with which `UPDATE_FOUND` ends if a book is missing or is another one than was found. */
function hasConflict(error: unknown): boolean {
  return sqlState(error) === '22012';
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

const FIND_MANY: sql.Statement = {
  name: 'find many',
  text: `
    with ${sql.GIVEN_UPDATES}
    select id, bytes, "sentBytes", "isTagged", digest
    from (
      select books.id, ${sql.TEXT_BYTES.replaceAll(/title|author/g, 'books.$&')} as bytes,
        case when "isDeleted" is null then ${sql.sentBytes('books')} end as "sentBytes", ${sql.isTagged('books')} as "isTagged",
        case when tags is not null then ${sql.digestOf('books')} end as digest
      from given join books on books.id = given.id
    ) as found
  `,
};

/** In an update, Citus allows no function that is only stable, as `convert_to` is. The digests are in the place of the tags. */
const UPDATE_FOUND: sql.Statement = {
  name: 'update found',
  text: `
    with ${sql.GIVEN_UPDATES}, ${sql.updatesIf(`(tags is null or tags = ${sql.digestOf('books')})`)}
    select json, null as fault, 0 as index,
      1 / case when (select count(*) from given) = (select count(*) from updated) + (select count(*) from deleted)
        then 1 else 0 end as "isWhole"
    from (${sql.RENDER_UPDATED}) as changed
  `,
};

function findFault(
  updates: readonly UpdateItem[],
  rows: readonly FoundRow[],
): Pick<sql.UpdatedRow, 'fault' | 'index'> | undefined {
  if (rows.reduce((sum, { bytes }) => sum + bytes, 0) > UPDATED_BYTES_MAX)
    return { fault: 'too long', index: 0 };
  const found = sql.matchIds(
    updates.map(({ id }) => id),
    rows,
  );
  const index = found.findIndex((row) => !row?.isTagged);
  if (index !== -1) return { fault: found[index] ? 'other tag' : 'absent', index };
  const sent = rows.reduce((sum, { sentBytes }) => sum + (sentBytes ?? 0), 0);
  return sent > UPDATED_BYTES_MAX ? { fault: 'too long', index: 0 } : undefined;
}

const FIND_KEYS: sql.Statement = {
  name: 'find keys',
  text: `
    select ${sql.keyOf('= any($2::text[])')}, ${sql.IS_EXPIRED} as "isExpired"
    from idempotency_keys where key = any($1::text[])
  `,
};

const DELETE_EXPIRED: sql.Statement = {
  name: 'remove keys of',
  text: `delete from idempotency_keys where key = any($1::text[]) and ${sql.IS_EXPIRED}`,
};

const INSERT_MANY_ONCE: sql.Statement = {
  name: 'create many once',
  text: `
    with created as (
      insert into books (title, author, year)
      select book ->> 'title', book ->> 'author', (book ->> 'year')::bigint
      from json_array_elements($1::json) with ordinality as given (book, position)
      order by position
      returning id, title, author, year
    ), books as (${sql.keptBooks('$3::text')}), keyed as (
      insert into idempotency_keys (key, fingerprint, book_id)
      select $2::text, kept, first from books
      returning ${sql.NEW_KEY}
    )
    select * from keyed
  `,
};

const DRAW_IDS: sql.Statement = {
  name: 'draw ids',
  text: `
    select string_agg(nextval(name)::text, ',') as ids
    from (select pg_get_serial_sequence('books', 'id')::regclass as name offset 0) as sequence,
      generate_series(1, $1::integer)
  `,
};

const SELECT_NONE: sql.Statement = { name: 'find none', text: 'select id from books where false' };
