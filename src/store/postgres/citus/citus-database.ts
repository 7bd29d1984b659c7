import { StoreUnavailable } from '../../../book/book-store-interface.ts';
import { FailedRow } from '../batches/updates.ts';
import { Database } from '../pool/database.ts';
import type { ConnectionPool } from '../pool/pool.ts';
import {
  BOOK_COLUMNS,
  DELETE,
  DELETE_EXPECTED,
  INSERT,
  INSERT_ONCE,
  RENDER,
  SELECT,
  SELECT_PAGE,
  type Statement,
  UPDATE,
  UPDATE_EXPECTED,
} from '../sql.ts';
import { CitusPages } from './citus-pages.ts';
import type { Shards } from './shards.ts';

/**
 * Runs the statements of PostgreSQL on a table that Citus distributes, some of them in another form with the same
 * parameters and rows. A write on one shard is a transaction of one server, which is several times faster than a
 * distributed one; so the ids of a batch of new books are of one shard, and updates and deletes are grouped by shard.
 */
export class CitusDatabase extends Database {
  readonly #shards: Shards;
  readonly #pages: CitusPages;

  constructor(pool: ConnectionPool, shards: Shards) {
    super(pool);
    this.#shards = shards;
    this.#pages = new CitusPages((statement, values) => super.query(statement, values));
  }

  override async query<Row extends object>(statement: Statement, values: unknown[]): Promise<Row[]> {
    return (await this.#translate(statement, values)) as Row[];
  }

  #translate(statement: Statement, values: unknown[]): Promise<object[]> {
    switch (statement) {
      case INSERT:
        return this.#insert(values as unknown[][]);
      case INSERT_ONCE:
        return this.#insertOnce(values as unknown[][]);
      case SELECT:
        return this.#select(values as [number[]]);
      case SELECT_PAGE:
        return this.#pages.read(...(values as [number, number]));
      case UPDATE:
      case UPDATE_EXPECTED:
      case DELETE:
      case DELETE_EXPECTED:
        return this.#runByShard(statement, values as unknown[][]);
      case RENDER:
        return super.query(RENDER_SHARDS, values);
      default:
        return super.query(statement, values);
    }
  }

  async #insert([titles = [], authors = [], years = []]: unknown[][]): Promise<object[]> {
    const ids = await this.#drawIds(titles.length);
    const rows = ids.map((id, index) => [id, titles[index], authors[index], years[index]]);
    await super.query(insertOf(rows.length), rows.flat());
    // As JSON has it, which knows no -0.
    return rows.map(([id, title, author, year]) => ({ id, title, author, year: (year as number) + 0 }));
  }

  async #insertOnce(columns: unknown[][]): Promise<object[]> {
    const [keys = []] = columns.slice(3);
    const ids = await this.#drawIds(keys.length);
    const rows = ids.map((id, index) => [id, ...columns.map((column) => column[index])]);
    return super.query(insertOnceOf(rows.length), rows.flat());
  }

  async #select([ids]: [number[]]): Promise<object[]> {
    if (ids.length === 0) return super.query(SELECT_NONE, []);
    if (ids.length === 1) return this.#runByShard(SELECT, [ids]);
    try {
      return await super.query(SELECT, [ids]);
    } catch (error) {
      // While one server is unavailable, the books of the others are found.
      if (isOfWorker(error)) return this.#runByShard(SELECT, [ids]);
      throw error;
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

  /** Runs a statement whose parameters are columns, ids first, on each shard by itself; each may fail by itself. */
  async #runByShard(statement: Statement, columns: unknown[][]): Promise<object[]> {
    const { ofOne, ofShard } = FORMS.get(statement) as Forms;
    const rowsOf = (group: readonly number[]) => {
      const values = columns.map((column) => group.map((position) => column[position]));
      return group.length === 1 ? super.query(ofOne, values.flat()) : super.query(ofShard, values);
    };
    const groups = this.#shards.group(columns[0] as number[]);
    const isOnly = groups.length === 1;
    const rows: object[] = [];
    let lost: unknown;
    const pending = groups.values();
    const runPending = async () => {
      for (const group of pending) {
        try {
          if (lost !== undefined) throw lost;
          rows.push(...(await rowsOf(group)));
        } catch (error) {
          if (isOnly && !isOfWorker(error)) throw error;
          const isUnavailable = error instanceof StoreUnavailable;
          // Without the coordinator, the other statements would only take their time to fail.
          if (isUnavailable && !isOfWorker(error)) lost = error;
          // A book that the server rejects does not keep the others of its group from being stored.
          if (group.length > 1 && !isUnavailable) groups.push(...group.map((position) => [position]));
          else
            for (const position of group)
              rows.push(new FailedRow(columns[0]?.[position] as number, error as Error));
        }
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, runPending));
    return rows;
  }
}

/** Whether the coordinator could not reach a worker. */
function isOfWorker(error: unknown): boolean {
  return error instanceof StoreUnavailable && error.reason.startsWith('08');
}

/** The most statements of one batch at a time; some connections remain for other batches. */
const CONCURRENCY = 6;

/** With more rows than these, statements are not prepared, as there is one for each number of rows. */
const PREPARED_ROWS = 64;

function insertOf(rows: number): Statement {
  return {
    ...nameOf('create', rows),
    text: `insert into books (id, title, author, year) values ${valuesOf(rows, 4, '$1::bigint, $2::text, $3::text, $4::bigint')}`,
  };
}

function insertOnceOf(rows: number): Statement {
  const books = valuesOf(rows, 6, '$1::bigint, $2::text, $3::text, $4::bigint');
  const keys = valuesOf(rows, 6, '$5::text, $6::text, $1::bigint');
  return {
    ...nameOf('create once', rows),
    text: `
      with created as (insert into books (id, title, author, year) values ${books} returning id)
      insert into idempotency_keys (key, fingerprint, book_id) values ${keys}
      returning key, book_id as id
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

/** A statement for books of one shard, and for one book, which Citus plans once only. */
interface Forms {
  readonly ofShard: Statement;
  readonly ofOne: Statement;
}

/** Citus selects the shard by this condition. */
function inShard(sql: string): string {
  return sql.replace('returning', 'and books.id = any($1::bigint[]) returning');
}

function formsOf({ name, text }: Statement, textOfOne: string): Forms {
  return {
    ofShard: { name: `${name} of shard`, text: inShard(text) },
    ofOne: { name: `${name} one`, text: textOfOne },
  };
}

const SET = 'set title = coalesce($2, title), author = coalesce($3, author), year = coalesce($4, year)';
const isExpected = (first: number) =>
  `(coalesce(title, ''), coalesce(author, ''), coalesce(year, 0)) = ($${first}, $${first + 1}, $${first + 2})`;

const FORMS: ReadonlyMap<Statement, Forms> = new Map([
  [SELECT, formsOf(SELECT, `select ${BOOK_COLUMNS} from books where id = $1`)],
  [UPDATE, formsOf(UPDATE, `update books ${SET} where id = $1 returning ${BOOK_COLUMNS}`)],
  [
    UPDATE_EXPECTED,
    formsOf(
      UPDATE_EXPECTED,
      `update books ${SET} where id = $1 and ${isExpected(5)} returning ${BOOK_COLUMNS}`,
    ),
  ],
  [DELETE, formsOf(DELETE, 'delete from books where id = $1 returning id')],
  [
    DELETE_EXPECTED,
    formsOf(DELETE_EXPECTED, `delete from books where id = $1 and ${isExpected(2)} returning id`),
  ],
]);

const DRAW_IDS: Statement = {
  name: 'draw ids',
  text: `
    select string_agg(nextval(name)::text, ',') as ids
    from (select pg_get_serial_sequence('books', 'id')::regclass as name offset 0) as sequence,
      generate_series(1, $1::integer)
  `,
};

const SELECT_NONE: Statement = { name: 'find none', text: 'select id from books where false' };

const RENDER_SHARDS: Statement = {
  text: RENDER.text.replace('where books.id', 'where books.id = any($1::bigint[]) and books.id'),
};
