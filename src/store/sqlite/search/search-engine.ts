import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  type BookPosition,
  type BookQuery,
  type SearchPage,
  type SortKey,
  StoreUnavailable,
} from '../../../book/book-store-interface.ts';
import {
  afterCondition,
  fieldCondition,
  matchColumns,
  orderOf,
  Parameters,
} from '../../search/conditions.ts';
import type { IndexDialect, Row, Scan, ScannedBooks, SearchEngine } from '../../search/engine-interface.ts';
import type { Needles } from '../../search/folding.ts';
import { isUnusable, reasonOf, toStoreError } from '../errors.ts';
import { BOOK_COLUMNS } from '../sql.ts';
import { SqliteIndexDialect } from './index-dialect.ts';
import { UnfitIndex } from './index-file.ts';
import { MatchFunctions } from './match-functions.ts';
import { SearchIndex } from './search-index.ts';

/** The most books read at a time without the index; more by year, as each time sorts all books. */
const SCANNED_BOOKS = 500;
const SORTED_BOOKS = 5_000;
/** The most bytes of their text, unless it is of a single book. */
const SCANNED_BYTES = 1_024 * 1_024;

const STATEMENTS_MAX = 100;

/** A thread that builds the index, as one step of it would block the other searches for too long. */
interface IndexBuilder {
  /** @returns whether the index is complete */
  send(): Promise<boolean>;
  close(): Promise<void>;
}

export class SqliteSearchEngine implements SearchEngine {
  readonly parameterSign = '?';
  readonly #database: DatabaseSync;
  readonly #functions: MatchFunctions;
  readonly #statements = new Map<string, StatementSync>();
  readonly #index: SearchIndex;
  readonly #startBuilder: () => Promise<IndexBuilder>;
  #building: Promise<void> | undefined;
  #isClosed = false;
  /** The reason why the last search that needed the index could not use it. */
  indexFailure: string | undefined;

  constructor(database: DatabaseSync, startBuilder: () => Promise<IndexBuilder>) {
    this.#database = database;
    this.#index = new SearchIndex(database);
    this.#startBuilder = startBuilder;
    this.#functions = new MatchFunctions(database);
  }

  async run<Result>(needsIndex: boolean, search: (isIndexed: boolean) => Promise<Result>): Promise<Result> {
    try {
      const isIndexed = needsIndex && (await this.#beginByIndex());
      if (!isIndexed) this.#database.exec('begin');
      try {
        return await search(isIndexed);
      } catch (error) {
        if (!isIndexed || !isUnusable(error)) throw error;
        this.#index.reportFault(error);
        this.indexFailure = reasonOf(error);
        this.#statements.clear();
        return await search(false);
      } finally {
        if (this.#database.isTransaction) this.#database.exec('rollback');
      }
    } catch (error) {
      // A statement that failed during iteration would fail once more.
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
      select ${matchColumns(query)} ${hasTexts ? ', title, author' : ''} from ${this.allBooks(query.sort)}
      where ${afterCondition(query, after)(parameters)} and ${fieldCondition(query, parameters)}
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

  allBooks(sort: SortKey): string {
    const bytes = 'coalesce(octet_length(title), 0) + coalesce(octet_length(author), 0)';
    // `is_sortable` throws when there are too many to sort.
    return `(
      select id, coalesce(title, '') as title, coalesce(author, '') as author, coalesce(year, 0) as year,
        ${bytes} as bytes
      from books ${sort === 'id' ? '' : `where is_sortable(${bytes})`}
    )`;
  }

  async rows(sql: string, { values }: Parameters): Promise<Row[]> {
    this.#functions.begin(undefined, 0);
    return this.#prepare(sql).all(...(values as (string | number)[]));
  }

  async render(ids: readonly number[]): Promise<Pick<SearchPage, 'json' | 'count'>> {
    const row = this.#prepare(RENDER).get(JSON.stringify(ids));
    const { json, count } = row as { json: Uint8Array | null; count: number };
    return { json: json ?? new Uint8Array(), count };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#building;
    this.#database.close();
  }

  /** Begins a transaction if the index is up to date. @returns whether it is; false if it cannot be read or updated */
  async #beginByIndex(): Promise<boolean> {
    try {
      const state = await this.#index.begin();
      if (state === 'current') this.indexFailure = undefined;
      if (state === 'behind') this.#building ??= this.#build();
      return state === 'current';
    } catch (error) {
      this.indexFailure = error instanceof UnfitIndex ? error.message : reasonOf(error);
      if (this.indexFailure === undefined) throw error;
      return false;
    }
  }

  async #build(): Promise<void> {
    try {
      const builder = await this.#startBuilder();
      try {
        while (!this.#isClosed && !(await builder.send()));
      } finally {
        await builder.close();
      }
    } catch (error) {
      this.indexFailure = error instanceof StoreUnavailable ? error.reason : String(error);
    } finally {
      this.#building = undefined;
    }
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    if (this.#statements.size >= STATEMENTS_MAX) this.#statements.clear();
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** Books by their ids, in the order of the ids. */
const RENDER = `
  select count(*) as count, cast(group_concat(json_object('id', id, 'title', title, 'author', author, 'year', year), ',') as blob) as json
  from (
    select ${BOOK_COLUMNS} from json_each(?) as requested cross join books on books.id = requested.value
    order by requested.key
  )
`;
