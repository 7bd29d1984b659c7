import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { LogPosition } from '../../changes/log-position.ts';
import { toUtf8 } from '../../store/sqlite/book-statement.ts';
import { isUnusable, toStoreError } from '../../store/sqlite/errors.ts';
import { forgetStatements, prepareOnce } from '../../store/sqlite/prepared.ts';
import { BOOK_COLUMNS } from '../../store/sqlite/sql.ts';
import type { BookQuery, SearchPage } from '../book-search.ts';
import { hasFieldCondition } from '../conditions.ts';
import type { Needles } from '../folding.ts';
import type { Parameters } from '../parameters.ts';
import type { IndexedSnapshot, Row, Snapshot, Snapshots } from '../snapshot.ts';
import { SQLITE_DIALECT } from './index-dialect.ts';
import { IndexReader } from './index-reader.ts';
import { areExact, wordsQueryOf } from './trigrams.ts';

/** A search has found the index damaged. */
export class IndexDamaged extends Error {}

/** Snapshots of the index; for lists by id alone, of the books. */
export class SqliteSnapshots implements Snapshots {
  readonly #store: DatabaseSync;
  readonly #index: IndexReader;
  /** The last change that the next search must see; undefined for the last one that there is. */
  target: LogPosition | undefined;

  constructor(store: DatabaseSync) {
    this.#store = store;
    this.#index = new IndexReader(store);
  }

  /** @throws BehindTarget, IndexDamaged, UnusableIndex */
  async run<Result>(needsIndex: boolean, search: (snapshot: Snapshot) => Promise<Result>): Promise<Result> {
    let snapshot: SqliteSnapshot | undefined;
    try {
      snapshot = new SqliteSnapshot(needsIndex ? this.#index.begin(this.target) : this.#store, needsIndex);
      if (!needsIndex) this.#store.exec('begin');
      return await search(snapshot);
    } catch (error) {
      snapshot?.forgetStatements();
      if (!needsIndex || !isUnusable(error)) throw toStoreError(error);
      this.#index.close();
      throw new IndexDamaged();
    } finally {
      snapshot?.end();
    }
  }

  async close(): Promise<void> {
    this.#index.close();
    this.#store.close();
  }
}

/** The books of one moment, in the index or in the store. */
class SqliteSnapshot implements IndexedSnapshot {
  readonly dialect = SQLITE_DIALECT;
  readonly books: string;
  readonly #renderStatement: string;
  readonly #database: DatabaseSync;

  /** @param database in a transaction, or about to be */
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

  async countWords(query: BookQuery, needles: Needles): Promise<number | undefined> {
    if (!areExact(needles) || hasFieldCondition(query)) return undefined;
    const row = this.#prepare(COUNT_WORDS).get(wordsQueryOf(needles) ?? '');
    return Number(row?.count);
  }

  end(): void {
    if (this.#database.isOpen && this.#database.isTransaction) this.#database.exec('rollback');
  }

  forgetStatements(): void {
    forgetStatements(this.#database);
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
