import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { StoreUnavailable } from '../../book/book-store.ts';
import { isUnusable, reasonOf, toStoreError } from '../../store/sqlite/errors.ts';
import { BOOK_COLUMNS } from '../../store/sqlite/sql.ts';
import type { BookPosition, BookQuery, SearchPage } from '../book-search.ts';
import { afterCondition, fieldCondition, hasFieldCondition, matchColumns, orderOf } from '../conditions.ts';
import type { Row, Scan, ScannedBooks, SearchEngine, Snapshot } from '../engine.ts';
import { COMPARED_LENGTH, type Needles } from '../folding.ts';
import { Parameters } from '../parameters.ts';
import { SELECT_TOO_MANY } from '../scan-run.ts';
import { SQLITE_DIALECT } from './index-dialect.ts';
import { UnfitIndex } from './index-file.ts';
import { SearchIndex } from './search-index.ts';
import { areExact, wordsQueryOf } from './trigrams.ts';

/** The most books read at a time without the index; more by year, as each time sorts all books. */
const SCANNED_BOOKS = 500;
const SORTED_BOOKS = 5_000;

const STATEMENTS_MAX = 100;

/** A thread that builds the index, as one step of it would block the other searches for too long. */
interface IndexBuilder {
  /** @returns whether the index is complete */
  send(): Promise<boolean>;
  close(): Promise<void>;
}

export class SqliteSearchEngine implements SearchEngine {
  readonly #database: DatabaseSync;
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
  }

  async run<Result>(needsIndex: boolean, search: (snapshot: Snapshot) => Promise<Result>): Promise<Result> {
    try {
      const isIndexed = needsIndex && (await this.#beginByIndex());
      if (!isIndexed) this.#database.exec('begin');
      try {
        const found = await search(this.#snapshot(isIndexed));
        if (isIndexed) this.#commitIndex();
        return found;
      } catch (error) {
        if (!isIndexed || !isUnusable(error)) throw error;
        this.#reportFault(error);
        return await search(this.#snapshot(false));
      } finally {
        if (this.#database.isTransaction) this.#database.exec('rollback');
      }
    } catch (error) {
      // A statement that failed during iteration would fail once more.
      this.#statements.clear();
      throw toStoreError(error);
    }
  }

  #snapshot(isIndexed: boolean): Snapshot {
    return {
      isIndexed,
      dialect: SQLITE_DIALECT,
      rows: async (sql, parameters) => this.#rows(sql, parameters),
      nextBooks: async (query, after, scan) => this.#nextBooks(query, after, scan),
      render: async (ids) => this.#render(ids),
      countWords: async (query, needles) => this.#countWords(query, needles),
    };
  }

  #nextBooks(query: BookQuery, after: BookPosition | undefined, scan: Scan): ScannedBooks {
    const isById = query.sort === 'id';
    const limit = scan.limit ?? (isById ? SCANNED_BOOKS : SORTED_BOOKS);
    // The statement that sorts them cannot be interrupted.
    if (!isById && this.#prepare(SELECT_TOO_MANY).get())
      throw new StoreUnavailable('too many books to sort without the index');
    const parameters = new Parameters('?');
    const sql = `
      select ${matchColumns(query)} ${scan.hasTexts ? COMPARED_TEXTS : ''} from ${SQLITE_DIALECT.allBooks}
      where ${afterCondition(query, after)(parameters)} and ${fieldCondition(query, parameters)}
      order by ${orderOf(query)} limit ${limit}
    `;
    const books = this.#rows(sql, parameters) as unknown as ScannedBooks['books'];
    return { books, isEnd: books.length < limit };
  }

  #rows(sql: string, { values }: Parameters): Row[] {
    return this.#prepare(sql).all(...(values as (string | number)[]));
  }

  #render(ids: readonly number[]): Pick<SearchPage, 'json' | 'count'> {
    const row = this.#prepare(RENDER).get(JSON.stringify(ids));
    const { json, count } = row as { json: Uint8Array | null; count: number };
    return { json: json ?? new Uint8Array(), count };
  }

  #countWords(query: BookQuery, needles: Needles): number | undefined {
    if (!areExact(needles) || hasFieldCondition(query)) return undefined;
    const row = this.#prepare(COUNT_WORDS).get(wordsQueryOf(needles) ?? '');
    return Number(row?.count);
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

  /** Keeps what this search has added to the index; if that fails, the next search adds it again. */
  #commitIndex(): void {
    try {
      this.#index.commit();
    } catch (error) {
      this.#reportFault(error);
    }
  }

  #reportFault(error: unknown): void {
    this.#index.reportFault(error);
    this.indexFailure = reasonOf(error);
    this.#statements.clear();
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

const COMPARED_TEXTS = `, substr(title, 1, ${COMPARED_LENGTH}) as title, substr(author, 1, ${COMPARED_LENGTH}) as author`;

const COUNT_WORDS = 'select count(*) as count from book_words where book_words match ?';

/** Books by their ids, in the order of the ids. */
const RENDER = `
  select count(*) as count, cast(group_concat(json_object('id', id, 'title', title, 'author', author, 'year', year), ',') as blob) as json
  from (
    select ${BOOK_COLUMNS} from json_each(?) as requested cross join books on books.id = requested.value
    order by requested.key
  )
`;
