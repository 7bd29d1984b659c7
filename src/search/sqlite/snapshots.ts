import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { forgetStatements, prepareOnce } from '../../changes/sqlite/prepared.ts';
import { BOOK_COLUMNS, jsonOf, toUtf8 } from '../../store/sqlite/book-columns.ts';
import type { SearchPage, SearchQuery } from '../book-search.ts';
import { hasFieldCondition } from '../conditions.ts';
import type { Needles } from '../folding.ts';
import type { Progress } from '../index-wait.ts';
import type { Parameters } from '../parameters.ts';
import type { Dialect, IndexedSnapshot, IndexUse, Outcome, Row, Snapshot, Snapshots } from '../snapshot.ts';
import { CommonBeginnings } from './common-beginnings.ts';
import { SQLITE_DIALECT, sqliteDialect } from './index-dialect.ts';
import { Positions } from './positions.ts';
import { CURRENT, SearchIndex } from './search-index.ts';
import { areExact, wordsQueryOf } from './trigrams.ts';

/** The longest time for which searches share a snapshot, as the WAL grows until it ends. */
const SHARED_NS = 50_000_000n;
/** The time for which a snapshot stays open for the next search, which may arrive in the thread after the last response. */
const IDLE_MS = 1;

/**
 * Snapshots of the index, which is brought up to date before; for lists by id alone, of the books. Searches share a snapshot
 * of the index that began after they arrived: beside writers, each of them would wait for an update of its own.
 */
export class SqliteSnapshots implements Snapshots {
  readonly #store: DatabaseSync;
  #index: SearchIndex | undefined;
  readonly #common = new CommonBeginnings();
  /** When the open snapshot began; undefined while none is open. */
  #begunAt: bigint | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(store: DatabaseSync) {
    this.#store = store;
  }

  /** Brings the index up to date, or a part of the way, for searches that wait. @throws UnusableIndex, or errors of SQLite */
  async update(): Promise<Progress> {
    this.#end();
    const progress = await this.#begin();
    if (progress.isCurrent) this.#endSoon();
    return progress;
  }

  /** The clock of `arrivedAt` is one for all threads. @throws UnusableIndex, or errors of SQLite */
  async run<Result>(
    use: IndexUse,
    search: (snapshot: Snapshot) => Promise<Result>,
    arrivedAt = process.hrtime.bigint(),
  ): Promise<Outcome<Result>> {
    const begun = await this.#beginFor(use, arrivedAt);
    if ('progress' in begun) return begun;
    const { index } = begun;
    if (!index) {
      this.#end();
      this.#store.exec('begin');
    }
    try {
      return { found: await search(new SqliteSnapshot(this.#store, index?.database, this.#common)) };
    } catch (error) {
      this.#end();
      forgetStatements(this.#store);
      if (!index) throw error;
      forgetStatements(index.database);
      return { progress: index.deleteIfDamaged(error) };
    } finally {
      if (index) this.#endSoon();
      else if (this.#store.isTransaction) this.#store.exec('rollback');
    }
  }

  async close(): Promise<void> {
    this.#end();
    this.#index?.close();
    this.#store.close();
  }

  /** @returns the index, if a snapshot of it has begun; or how far it is, if the search has to wait for it or it was damaged */
  async #beginFor(
    use: IndexUse,
    arrivedAt: bigint,
  ): Promise<{ readonly index: SearchIndex | undefined } | { readonly progress: Progress }> {
    try {
      if (use === 'required' || (use === 'if up to date' && this.#index?.isBuilt)) {
        const progress = await this.#beginShared(arrivedAt);
        if (progress.isCurrent) return { index: this.#index };
        if (use === 'required' || progress.wasDamaged) return { progress };
      }
    } catch (error) {
      // Without the index, the search goes on, and the next update reports the error.
      if (use === 'required') throw error;
    }
    return { index: undefined };
  }

  /** Begins a snapshot, unless one is open that began after the search arrived. */
  async #beginShared(arrivedAt: bigint): Promise<Progress> {
    clearTimeout(this.#idle);
    const now = process.hrtime.bigint();
    if (this.#begunAt !== undefined && this.#begunAt > arrivedAt && now - this.#begunAt < SHARED_NS)
      return CURRENT;
    this.#end();
    return this.#begin();
  }

  async #begin(): Promise<Progress> {
    this.#index ??= await SearchIndex.open(this.#store);
    const begunAt = process.hrtime.bigint();
    const progress = this.#index.begin();
    if (progress.isCurrent) this.#begunAt = begunAt;
    return progress;
  }

  #endSoon(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#end(), IDLE_MS);
  }

  #end(): void {
    clearTimeout(this.#idle);
    this.#begunAt = undefined;
    this.#index?.end();
  }
}

/** The books of one moment, in the store and perhaps in the index. */
class SqliteSnapshot implements IndexedSnapshot {
  readonly dialect: Dialect;
  readonly books: string;
  readonly positions?: Positions;
  readonly #store: DatabaseSync;
  readonly #database: DatabaseSync;

  /** @param store in a transaction @param index in one of the same moment, if the search needs it */
  constructor(store: DatabaseSync, index: DatabaseSync | undefined, common: CommonBeginnings) {
    this.#store = store;
    this.#database = index ?? store;
    this.dialect = index ? sqliteDialect((beginning) => common.has(beginning, index)) : SQLITE_DIALECT;
    this.books = index ? 'book_search' : SQLITE_DIALECT.allBooks;
    if (index) this.positions = new Positions(index);
  }

  /** Their number, and not the highest id: ids may be far apart, or negative. */
  get estimatedBooks(): number | undefined {
    return this.positions?.countAll('id');
  }

  async rows(sql: string, { values }: Parameters): Promise<Row[]> {
    return this.#prepare(sql).all(...(values as (string | number)[]));
  }

  async render(ids: readonly number[]): Promise<Pick<SearchPage, 'json' | 'count'>> {
    const row = prepareOnce(this.#store, RENDER).get(JSON.stringify(ids));
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
const RENDER = `
  select count(*) as count, cast(group_concat(${jsonOf((name) => name)}, ',') as blob) as json
  from (
    select ${BOOK_COLUMNS} from json_each(?) as requested cross join books on books.id = requested.value
    order by requested.key
  )
`;
