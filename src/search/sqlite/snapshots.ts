import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { BOOK_COLUMNS, toUtf8 } from '../../store/sqlite/book-columns.ts';
import { isUnusable } from '../../store/sqlite/errors.ts';
import { forgetStatements, prepareOnce } from '../../store/sqlite/prepared.ts';
import type { SearchPage, SearchQuery } from '../book-search.ts';
import { hasFieldCondition } from '../conditions.ts';
import type { Needles } from '../folding.ts';
import type { Parameters } from '../parameters.ts';
import type { IndexedSnapshot, Row, Snapshot, Snapshots } from '../snapshot.ts';
import { SQLITE_DIALECT } from './index-dialect.ts';
import { IndexUpdater, type Progress } from './index-updater.ts';
import { areExact, wordsQueryOf } from './trigrams.ts';

/** The index lacks changes that a search must see. */
export class IndexBehind extends Error {
  readonly progress: Progress;

  constructor(progress: Progress) {
    super();
    this.progress = progress;
  }
}

/** Snapshots of the index, which is brought up to date before; for lists by id alone, of the books. */
export class SqliteSnapshots implements Snapshots {
  readonly #store: DatabaseSync;
  #index: IndexUpdater | undefined;

  constructor(store: DatabaseSync) {
    this.#store = store;
  }

  /** Brings the index up to date, or a part of the way. @throws UnusableIndex, or errors of SQLite */
  async step(): Promise<Progress> {
    this.#index ??= await IndexUpdater.open(this.#store);
    return this.#index.step();
  }

  /** @throws IndexBehind, UnusableIndex, or errors of SQLite */
  async run<Result>(needsIndex: boolean, search: (snapshot: Snapshot) => Promise<Result>): Promise<Result> {
    const database = needsIndex ? await this.#beginIndex() : this.#store;
    if (!needsIndex) database.exec('begin');
    try {
      return await search(new SqliteSnapshot(database, needsIndex));
    } catch (error) {
      forgetStatements(database);
      if (!needsIndex || !isUnusable(error)) throw error;
      throw new IndexBehind((this.#index as IndexUpdater).deleteDamaged(error));
    } finally {
      if (database.isOpen && database.isTransaction) database.exec('rollback');
    }
  }

  async close(): Promise<void> {
    this.#index?.close();
    this.#store.close();
  }

  /** Begins a transaction on an index that has each write before. */
  async #beginIndex(): Promise<DatabaseSync> {
    this.#index ??= await IndexUpdater.open(this.#store);
    const progress = this.#index.begin();
    if (!progress.isCurrent) throw new IndexBehind(progress);
    return this.#index.database;
  }
}

/** The books of one moment, in the index or in the store. */
class SqliteSnapshot implements IndexedSnapshot {
  readonly dialect = SQLITE_DIALECT;
  readonly books: string;
  readonly #renderStatement: string;
  readonly #database: DatabaseSync;

  /** @param database in a transaction */
  constructor(database: DatabaseSync, isIndexed: boolean) {
    this.#database = database;
    this.books = isIndexed ? 'book_search' : SQLITE_DIALECT.allBooks;
    this.#renderStatement = isIndexed ? RENDER_INDEXED : RENDER;
  }

  async rows(sql: string, { values }: Parameters): Promise<Row[]> {
    return this.#prepare(sql).all(...(values as (string | number)[]));
  }

  async render(ids: readonly number[]): Promise<Pick<SearchPage, 'json' | 'count'>> {
    const row = this.#prepare(this.#renderStatement).get(JSON.stringify(ids));
    const { json, count } = row as { json: Uint8Array | null; count: number };
    return { json: json ? toUtf8(json) : new Uint8Array(), count };
  }

  async countWords(query: SearchQuery, needles: Needles): Promise<number | undefined> {
    if (!areExact(needles) || hasFieldCondition(query)) return undefined;
    const row = this.#prepare(COUNT_WORDS).get(wordsQueryOf(needles) ?? '');
    return Number(row?.count);
  }

  #prepare(sql: string): StatementSync {
    return prepareOnce(this.#database, sql);
  }
}

const COUNT_WORDS = 'select count(*) as count from book_words where book_words match ?';

/** Books by their ids, in the order of the ids. */
const render = (columns: string, books: string) => `
  select count(*) as count, cast(group_concat(json_object('id', id, 'title', title, 'author', author, 'year', year), ',') as blob) as json
  from (
    select ${columns} from json_each(?) as requested cross join ${books} as books on books.id = requested.value
    order by requested.key
  )
`;
const RENDER = render(BOOK_COLUMNS, 'books');
const RENDER_INDEXED = render(BOOK_COLUMNS, 'book_search');
