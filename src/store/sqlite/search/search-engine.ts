import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  type BookPosition,
  type BookQuery,
  type SearchPage,
  SORT_KEY_LENGTH,
} from '../../../book/book-store-interface.ts';
import { behind, matchColumns, orderOf, Parameters, yearsOf } from '../../search/conditions.ts';
import type { IndexDialect, Scan, ScannedBooks, SearchEngine } from '../../search/engine-interface.ts';
import type { Needles } from '../../search/folding.ts';
import { reasonOf, toStoreError } from '../errors.ts';
import { BOOK } from '../sql.ts';
import { SqliteIndexDialect } from './index-dialect.ts';
import { MatchFunctions } from './match-functions.ts';
import { SearchIndex } from './search-index.ts';

/** The most books that are read at a time without the index; more of them in an order that each time sorts them all. */
const SCANNED_BOOKS = 500;
const SORTED_BOOKS = 5_000;

/** The most bytes of their text, but for a single book. */
const SCANNED_BYTES = 1_024 * 1_024;

/** How many prepared statements are kept. */
const STATEMENTS_MAX = 100;

/** Searches on a connection of their own. */
export class SqliteSearchEngine implements SearchEngine {
  readonly #database: DatabaseSync;
  readonly #functions: MatchFunctions;
  readonly #statements = new Map<string, StatementSync>();
  #index: SearchIndex | undefined;
  #indexFailure: string | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#functions = new MatchFunctions(database);
  }

  /** Why the index could not be used by the last search that needed it. */
  get indexFailure(): string | undefined {
    return this.#indexFailure;
  }

  /** A search awaits nothing but its statements, so that no step of the index comes between them. */
  async run<Result>(needsIndex: boolean, search: (isIndexed: boolean) => Promise<Result>): Promise<Result> {
    try {
      const isIndexed = needsIndex && (await this.#catchUp());
      this.#database.exec('begin');
      try {
        return await search(isIndexed);
      } finally {
        if (this.#database.isTransaction) this.#database.exec('rollback');
      }
    } catch (error) {
      // A statement that failed while its rows were read one by one fails once more.
      this.#statements.clear();
      throw toStoreError(error);
    }
  }

  indexDialect(query: BookQuery, needles: Needles | undefined): IndexDialect {
    return new SqliteIndexDialect(query, needles, this.#functions, (sql) => this.#prepare(sql));
  }

  async nextBooks(
    query: BookQuery,
    after: BookPosition | undefined,
    { limit = query.sort === 'id' ? SCANNED_BOOKS : SORTED_BOOKS, hasTexts }: Scan,
  ): Promise<ScannedBooks> {
    const parameters = new Parameters('?');
    const sql = `
      select ${matchColumns(query)} ${hasTexts ? ', title, author' : ''} from ${booksToScan(query)}
      where ${behind(query, after, parameters)} and ${yearsOf(query, parameters)}
      order by ${orderOf(query)} limit ${limit}
    `;
    this.#functions.begin(undefined, 0);
    const books: ScannedBooks['books'][number][] = [];
    let bytes = 0;
    for (const row of this.#prepare(sql).iterate(...(parameters.values as (string | number)[]))) {
      const book = row as unknown as ScannedBooks['books'][number];
      bytes += book.bytes;
      if (books.length > 0 && bytes > SCANNED_BYTES) return { books, isEnd: false };
      books.push(book);
    }
    return { books, isEnd: books.length < limit };
  }

  async countBooks(query: BookQuery): Promise<number> {
    const parameters = new Parameters('?');
    const years = yearsOf(query, parameters);
    const sql = `select count(*) as count from (select coalesce(year, 0) as year from books) where ${years}`;
    return Number(this.#prepare(sql).get(...(parameters.values as (string | number)[]))?.count);
  }

  async render(ids: readonly number[]): Promise<Pick<SearchPage, 'json' | 'count'>> {
    const row = this.#prepare(RENDER).get(JSON.stringify(ids));
    return {
      json: (row?.json as Uint8Array | null | undefined) ?? new Uint8Array(),
      count: Number(row?.count),
    };
  }

  async close(): Promise<void> {
    this.#index?.close();
    this.#database.close();
  }

  /** @returns whether the index is up to date; not while the engine refuses one @throws what is no failure of the engine */
  async #catchUp(): Promise<boolean> {
    try {
      this.#index ??= await SearchIndex.open(this.#database);
      const isUpToDate = this.#index.catchUp();
      if (isUpToDate) this.#indexFailure = undefined;
      return isUpToDate;
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === undefined) throw error;
      this.#indexFailure = reason;
      return false;
    }
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    if (this.#statements.size >= STATEMENTS_MAX) this.#statements.clear();
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** The books, of which no more may be sorted than `is_sortable` allows. */
function booksToScan({ sort }: BookQuery): string {
  const bytes = 'coalesce(octet_length(title), 0) + coalesce(octet_length(author), 0)';
  return `(
    select id, coalesce(title, '') as title, coalesce(author, '') as author, coalesce(year, 0) as year,
      substr(coalesce(title, ''), 1, ${SORT_KEY_LENGTH}) as title_key,
      substr(coalesce(author, ''), 1, ${SORT_KEY_LENGTH}) as author_key, ${bytes} as bytes
    from books ${sort === 'id' ? '' : `where is_sortable(${bytes})`}
  )`;
}

/** Books by their ids, in the order of the list of them. */
const RENDER = `
  select count(*) as count, cast(group_concat(json_object('id', id, 'title', title, 'author', author, 'year', year), ',') as blob) as json
  from (
    select ${BOOK} from json_each(?) as wanted cross join books on books.id = wanted.value
    order by wanted.key
  )
`;
