import type { PoolClient } from 'pg';
import type { Book } from '../../book/book.ts';
import { toStoreError } from '../../store/postgres/errors.ts';
import { type ConnectionPool, retry } from '../../store/postgres/pool/pool.ts';
import { BOOK_COLUMNS, exact, HAS_EXACT_ID, matchIds, TEXT_BYTES } from '../../store/postgres/sql.ts';
import type { BookPosition, BookQuery, SearchPage } from '../book-search.ts';
import { afterCondition, fieldCondition, orderOf } from '../conditions.ts';
import { COMPARED_LENGTH } from '../folding.ts';
import { Parameters } from '../parameters.ts';
import type { ReadBook, Row, Snapshot, Snapshots } from '../snapshot.ts';
import { POSTGRES_DIALECT } from './index-dialect.ts';
import { BEGIN } from './schema.ts';

/** The most books that a statement reads: one on all servers of a distributed table costs as much as reading thousands. */
const BOOKS_AT_ONCE = 5_000;

/** Snapshots of a table that cannot have the triggers of an index: each search reads the books. */
export class ScanSnapshots implements Snapshots {
  readonly #pool: ConnectionPool;

  constructor(pool: ConnectionPool) {
    this.#pool = pool;
  }

  async run<Result>(_: boolean, search: (snapshot: Snapshot) => Promise<Result>): Promise<Result> {
    try {
      return await retry(() =>
        this.#pool.withConnection(async (client) => {
          await client.query(BEGIN);
          const found = await search(new ScanSnapshot(client));
          await client.query('commit');
          return found;
        }),
      );
    } catch (error) {
      throw toStoreError(error);
    }
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

class ScanSnapshot implements Snapshot {
  readonly dialect = POSTGRES_DIALECT;
  readonly books = POSTGRES_DIALECT.allBooks;
  readonly #client: PoolClient;

  constructor(client: PoolClient) {
    this.#client = client;
  }

  async rows(sql: string, { values }: Parameters): Promise<Row[]> {
    return (await this.#client.query<Row>(sql, values)).rows;
  }

  readonly readBooks = async (query: BookQuery, after: BookPosition | undefined) => {
    const parameters = new Parameters('$');
    const text = `
      select * from (
        select id, left(coalesce(title, ''), ${COMPARED_LENGTH}) as title, left(coalesce(author, ''), ${COMPARED_LENGTH}) as author,
          ${exact('year')} as year, ${TEXT_BYTES} as bytes
        from books where ${HAS_EXACT_ID}
      ) as books_to_scan
      where ${afterCondition(query, after)(parameters)} and ${fieldCondition(query, parameters)}
      order by ${orderOf(query)} limit ${BOOKS_AT_ONCE}`;
    const books = (await this.rows(text, parameters)) as unknown as ReadBook[];
    return { books, isEnd: books.length < BOOKS_AT_ONCE };
  };

  async render(ids: readonly number[]): Promise<Pick<SearchPage, 'json' | 'count'>> {
    const { rows } = await this.#client.query<Book>(SELECT_BOOKS, [ids]);
    const books = matchIds(ids, rows).filter((book) => book !== undefined);
    return { json: Buffer.from(JSON.stringify(books)).subarray(1, -1), count: books.length };
  }
}

/**
 * Without a join with the ids, of which each server would have to get all, and without `row_to_json`, of which Citus gives its
 * servers another form, without the names of the columns.
 */
const SELECT_BOOKS = `select ${BOOK_COLUMNS} from books where id = any($1::bigint[])`;
