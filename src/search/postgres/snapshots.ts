import type { PoolClient } from 'pg';
import { BOOK_COLUMNS } from '../../store/postgres/book-columns.ts';
import { isUnsupported, toStoreError } from '../../store/postgres/errors.ts';
import { type ConnectionPool, retry } from '../../store/postgres/pool/pool.ts';
import type { SearchPage } from '../book-search.ts';
import type { Parameters } from '../parameters.ts';
import type {
  Dialect,
  IdBounds,
  IndexedSnapshot,
  IndexUse,
  Outcome,
  Row,
  Snapshot,
  Snapshots,
} from '../snapshot.ts';
import { CommonTrigrams, NO_STATISTICS } from './common-trigrams.ts';
import { postgresDialect } from './index-dialect.ts';
import { Positions } from './positions.ts';
import { BEGIN } from './schema.ts';
import type { SearchIndex } from './search-index.ts';
import type { TrigramStatistics } from './trigrams.ts';

/** Snapshots of the index, each the transaction of one search, on a connection of the pool for searches. */
export class PostgresSnapshots implements Snapshots {
  readonly #pool: ConnectionPool;
  readonly #index: SearchIndex;
  readonly #common = new CommonTrigrams();

  constructor(pool: ConnectionPool, index: SearchIndex) {
    this.#pool = pool;
    this.#index = index;
  }

  async run<Result>(
    use: IndexUse,
    search: (snapshot: Snapshot) => Promise<Result>,
  ): Promise<Outcome<Result>> {
    const isRequired = use === 'required';
    try {
      if (isRequired) await this.#index.prepare();
      return await retry(() =>
        this.#pool.withConnection(async (client) => {
          const hasIndex = await this.#beginFor(use, client);
          if (isRequired && !hasIndex) return { progress: { isCurrent: false } };
          if (!hasIndex) await client.query(BEGIN);
          // A search that does not need the index has no words.
          const statistics = isRequired ? await this.#common.statistics(client) : NO_STATISTICS;
          const found = await search(new PostgresSnapshot(client, hasIndex, statistics));
          await client.query('commit');
          return { found };
        }),
      );
    } catch (error) {
      // For the honest accident: another program has a table or a function of the names that the index has.
      throw isRequired && isUnsupported(error) ? this.#index.fail(error) : toStoreError(error);
    }
  }

  /** @returns whether a snapshot of the index has begun */
  async #beginFor(use: IndexUse, client: PoolClient): Promise<boolean> {
    if (use === 'required') return this.#index.begin(client);
    return use === 'if up to date' && this.#index.tryBegin(client);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

/** The snapshot of a transaction. */
class PostgresSnapshot implements IndexedSnapshot {
  readonly books: string;
  readonly dialect: Dialect;
  readonly positions?: Positions;
  readonly estimatedBooks?: number;
  readonly #client: PoolClient;

  constructor(client: PoolClient, hasIndex: boolean, statistics: TrigramStatistics) {
    this.#client = client;
    this.dialect = postgresDialect(statistics, async () => {
      const [bounds] = (await client.query<IdBounds>(SELECT_BOUNDS)).rows;
      return bounds;
    });
    this.books = hasIndex ? 'book_search' : this.dialect.allBooks;
    if (hasIndex) this.positions = new Positions(client);
    if (Number.isFinite(statistics.books)) this.estimatedBooks = statistics.books;
  }

  async rows(sql: string, { values }: Parameters): Promise<Row[]> {
    return (await this.#client.query<Row>(sql, values)).rows;
  }

  async render(ids: readonly number[]): Promise<Pick<SearchPage, 'json' | 'count'>> {
    const { rows } = await this.#client.query<Row>(RENDER, [ids]);
    const [row] = rows;
    return { json: Buffer.from((row?.json as string | null | undefined) ?? ''), count: Number(row?.count) };
  }
}

const SELECT_BOUNDS = `
  select first, last from (select min(id) as first, max(id) as last from book_search) as bounds where first is not null
`;

/** Books by ids, in the order of the ids. */
const RENDER = `
  select count(*) as count, string_agg(row_to_json(page)::text, ',' order by given.position) as json
  from unnest($1::bigint[]) with ordinality as given (id, position)
    cross join lateral (select ${BOOK_COLUMNS} from books where books.id = given.id) as page
`;
