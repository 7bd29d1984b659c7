import type { BookPosition, BookQuery, SearchPage } from '../../../book/book-store-interface.ts';
import {
  afterCondition,
  fieldCondition,
  matchColumns,
  orderOf,
  Parameters,
} from '../../search/conditions.ts';
import type { IndexDialect, Row, Scan, ScannedBooks, SearchEngine } from '../../search/engine-interface.ts';
import type { Needles } from '../../search/folding.ts';
import { toStoreError } from '../errors.ts';
import type { Database } from '../pool/database.ts';
import { RENDER, TEXT_BYTES } from '../sql.ts';
import { PostgresIndexDialect } from './index-dialect.ts';
import type { SearchIndex } from './search-index.ts';

/** The most books that a statement reads without the index, and the most bytes of their text; a single book may have more. */
const SCANNED_BOOKS = 250;
const SCANNED_BYTES = 1_024 * 1_024;

export class PostgresSearchEngine implements SearchEngine {
  readonly parameterSign = '$';
  readonly #database: Database;
  readonly #index: SearchIndex;

  constructor(database: Database, index: SearchIndex) {
    this.#database = database;
    this.#index = index;
  }

  async run<Result>(needsIndex: boolean, search: (isIndexed: boolean) => Promise<Result>): Promise<Result> {
    try {
      return await search(needsIndex && (await this.#index.catchUp()));
    } catch (error) {
      throw toStoreError(error);
    }
  }

  indexDialect(query: BookQuery, needles: Needles | undefined): IndexDialect {
    return new PostgresIndexDialect(query, needles, (sql, values) => this.#rows(sql, values));
  }

  async nextBooks(
    query: BookQuery,
    after: BookPosition | undefined,
    { limit = SCANNED_BOOKS, hasTexts }: Scan,
  ): Promise<ScannedBooks> {
    const parameters = new Parameters('$');
    const order = orderOf(query);
    const rows = await this.#rows(
      `select ${matchColumns(query)} ${hasTexts ? ', title, author' : ''}, read from (
         select *, count(*) over () as read, row_number() over preceding as number, sum(bytes) over preceding as total
         from (
           select * from ${ALL_BOOKS}
           where ${afterCondition(query, after)(parameters)} and ${fieldCondition(query, parameters)}
           order by ${order} limit ${limit}
         ) as next
         window preceding as (order by ${order} rows unbounded preceding)
       ) as numbered
       where number = 1 or total <= ${SCANNED_BYTES} order by number`,
      parameters.values,
    );
    const read = Number(rows[0]?.read ?? 0);
    return {
      books: rows as unknown as ScannedBooks['books'],
      isEnd: read < limit && rows.length === read,
    };
  }

  allBooks(): string {
    return ALL_BOOKS;
  }

  rows(text: string, { values }: Parameters): Promise<Row[]> {
    return this.#rows(text, values);
  }

  async render(ids: readonly number[]): Promise<Pick<SearchPage, 'json' | 'count'>> {
    const [row] = await this.#database.query<Row>(RENDER, [ids]);
    return { json: Buffer.from((row?.json as string | null | undefined) ?? ''), count: Number(row?.count) };
  }

  async close(): Promise<void> {
    await this.#index.close();
    await this.#database.close();
  }

  #rows(text: string, values: unknown[]): Promise<Row[]> {
    return this.#database.query({ text }, values);
  }
}

const ALL_BOOKS = `(
  select id, coalesce(title, '') as title, coalesce(author, '') as author, coalesce(year, 0) as year,
    ${TEXT_BYTES} as bytes
  from books
) as all_books`;
