import type { PoolClient } from 'pg';
import { isUnsupported, toStoreError } from '../../store/postgres/errors.ts';
import { type ConnectionPool, retry } from '../../store/postgres/pool/pool.ts';
import { RENDER } from '../../store/postgres/sql.ts';
import type { BookPosition, BookQuery, SearchPage } from '../book-search.ts';
import { afterCondition, fieldCondition, matchColumns, orderOf } from '../conditions.ts';
import type { Row, Scan, ScannedBooks, SearchEngine, Snapshot } from '../engine.ts';
import { COMPARED_LENGTH } from '../folding.ts';
import { Parameters } from '../parameters.ts';
import { POSTGRES_DIALECT } from './index-dialect.ts';
import { BEGIN } from './schema.ts';
import type { SearchIndex } from './search-index.ts';

/** The most books that a statement reads without the index. */
const SCANNED_BOOKS = 1_000;

export class PostgresSearchEngine implements SearchEngine {
  readonly #pool: ConnectionPool;
  readonly #index: SearchIndex | undefined;
  readonly #Snapshot: typeof PostgresSnapshot;

  /** @param index undefined on Citus, which has no triggers that could record its changes */
  constructor(pool: ConnectionPool, index: SearchIndex | undefined, snapshot = PostgresSnapshot) {
    this.#pool = pool;
    this.#index = index;
    this.#Snapshot = snapshot;
  }

  async run<Result>(needsIndex: boolean, search: (snapshot: Snapshot) => Promise<Result>): Promise<Result> {
    try {
      const index = needsIndex && (await this.#index?.prepare()) ? this.#index : undefined;
      try {
        return await this.#transact(index, search);
      } catch (error) {
        // Somebody may have changed the tables of the index by hand.
        if (!index || !isUnsupported(error)) throw error;
        index.reportFailure(error);
        return await this.#transact(undefined, search);
      }
    } catch (error) {
      throw toStoreError(error);
    }
  }

  #transact<Result>(
    index: SearchIndex | undefined,
    search: (snapshot: Snapshot) => Promise<Result>,
  ): Promise<Result> {
    return retry(() =>
      this.#pool.withConnection(async (client) => {
        const isIndexed = index !== undefined && (await index.begin(client));
        if (!isIndexed) await client.query(BEGIN);
        const found = await search(new this.#Snapshot(client, isIndexed));
        await client.query('commit');
        return found;
      }),
    );
  }

  async close(): Promise<void> {
    await this.#index?.close();
    await this.#pool.end();
  }
}

/** The snapshot of a transaction. */
export class PostgresSnapshot implements Snapshot {
  readonly isIndexed: boolean;
  readonly dialect = POSTGRES_DIALECT;
  readonly #client: PoolClient;

  constructor(client: PoolClient, isIndexed: boolean) {
    this.#client = client;
    this.isIndexed = isIndexed;
  }

  rows(sql: string, { values }: Parameters): Promise<Row[]> {
    return this.query(sql, values);
  }

  async nextBooks(
    query: BookQuery,
    after: BookPosition | undefined,
    { limit = SCANNED_BOOKS, hasTexts }: Scan,
  ): Promise<ScannedBooks> {
    const parameters = new Parameters('$');
    const books = await this.rows(
      `select ${matchColumns(query)} ${hasTexts ? COMPARED_TEXTS : ''} from ${POSTGRES_DIALECT.allBooks}
       where ${afterCondition(query, after)(parameters)} and ${fieldCondition(query, parameters)}
       order by ${orderOf(query)} limit ${limit}`,
      parameters,
    );
    return { books: books as unknown as ScannedBooks['books'], isEnd: books.length < limit };
  }

  async render(ids: readonly number[]): Promise<Pick<SearchPage, 'json' | 'count'>> {
    const [row] = await this.query(this.renderStatement, [ids]);
    return { json: Buffer.from((row?.json as string | null | undefined) ?? ''), count: Number(row?.count) };
  }

  protected readonly renderStatement: string = RENDER.text;

  protected async query(text: string, values: unknown[]): Promise<Row[]> {
    return (await this.#client.query<Row>(text, values)).rows;
  }
}

const COMPARED_TEXTS = `, left(title, ${COMPARED_LENGTH}) as title, left(author, ${COMPARED_LENGTH}) as author`;
