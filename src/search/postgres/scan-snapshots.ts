import type { PoolClient } from 'pg';
import type { Book } from '../../book/contract.ts';
import { BOOK_COLUMNS, HAS_EXACT_ID, matchIds } from '../../store/postgres/book-columns.ts';
import { toStoreError } from '../../store/postgres/errors.ts';
import { type ConnectionPool, retry } from '../../store/postgres/pool/pool.ts';
import type { BookPosition, SearchPage, SearchQuery } from '../book-search.ts';
import { afterCondition, fieldCondition, orderOf } from '../conditions.ts';
import { Parameters } from '../parameters.ts';
import type { Outcome, ReadBook, ScanSnapshot, Snapshot, Snapshots } from '../snapshot.ts';
import { BEGIN, COMPARED_COLUMNS } from './schema.ts';

/** The most books that a statement reads: one on all servers of a distributed table costs as much as reading thousands. */
const BOOKS_AT_ONCE = 5_000;

/** Snapshots of a table that cannot have the triggers of an index: each search reads the books. */
export class ScanSnapshots implements Snapshots {
  readonly #pool: ConnectionPool;

  constructor(pool: ConnectionPool) {
    this.#pool = pool;
  }

  async run<Result>(_: unknown, search: (snapshot: Snapshot) => Promise<Result>): Promise<Outcome<Result>> {
    try {
      return await retry(() =>
        this.#pool.withConnection(async (client) => {
          await client.query(BEGIN);
          const found = await search(new PostgresScanSnapshot(client));
          await client.query('commit');
          return { found };
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

class PostgresScanSnapshot implements ScanSnapshot {
  readonly #client: PoolClient;

  constructor(client: PoolClient) {
    this.#client = client;
  }

  readonly readBooks = async (query: SearchQuery, after: BookPosition | undefined) => {
    const parameters = new Parameters('$');
    const text = `
      select * from (
        select ${COMPARED_COLUMNS} from books where ${HAS_EXACT_ID}
      ) as books_to_scan
      where ${afterCondition(query, after)(parameters)} and ${fieldCondition(query, parameters)}
      order by ${orderOf(query)} limit ${BOOKS_AT_ONCE}`;
    const { rows: books } = await this.#client.query<ReadBook>(text, parameters.values);
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
