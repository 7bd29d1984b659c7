import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { BookCount, BookPosition, BookQuery, SearchPage } from '../../../book/book.ts';
import { isUnfiltered, type PageBuilder } from '../../search/page-builder.ts';
import { reasonOf, toStoreError } from '../errors.ts';
import { openConnection } from '../files/connection.ts';
import { Matching } from '../search/matching.ts';
import { SearchIndex } from '../search/search-index.ts';
import { Look } from '../search/search-run.ts';
import { RENDER } from '../search/search-sql.ts';
import { type RequestHandler, serveRequests } from './worker-client.ts';

/** What is asked of the thread that searches: a page of up to `limit` books, or a number of books. */
export interface SearchRequest {
  readonly query: BookQuery;
  readonly after: BookPosition | undefined;
  readonly limit: number | 'count';
}

/** What was found, and why there is no index that could be used for it, where its engine has failed. */
export interface SearchResponse {
  readonly found: SearchPage | BookCount;
  readonly indexFailure: string | undefined;
}

/**
 * The thread that searches. Its index is behind the books: it catches up before a search, so that this sees every write
 * that was answered before. While there is too much to catch up with, the books themselves are looked through.
 */
class Searcher implements RequestHandler<SearchRequest, SearchResponse> {
  readonly #database: DatabaseSync;
  readonly #matching: Matching;
  #index: SearchIndex | undefined;
  #indexFailure: string | undefined;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#matching = new Matching(database);
  }

  async handle({ query, after, limit }: SearchRequest): Promise<SearchResponse> {
    try {
      const isIndexed = !isUnfiltered(query) && (await this.#catchUp());
      this.#database.exec('begin');
      try {
        const look = new Look(query, isIndexed, (sql) => this.#prepare(sql), this.#matching);
        const found = limit === 'count' ? look.count(after) : this.#page(look.find(limit, after));
        return { found, indexFailure: this.#indexFailure };
      } finally {
        if (this.#database.isTransaction) this.#database.exec('rollback');
      }
    } catch (error) {
      // A statement that failed while its rows were read one by one fails once more.
      this.#statements.clear();
      throw toStoreError(error);
    }
  }

  transfer({ found }: SearchResponse): ArrayBuffer[] {
    return 'json' in found && found.json.length > 0 ? [found.json.buffer as ArrayBuffer] : [];
  }

  close(): void {
    this.#index?.close();
    this.#database.close();
  }

  /**
   * @returns whether there is an index that is up to date; the engine may have no room for one, and it can be done without
   * @throws what is no failure of the engine
   */
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

  #page({ ids, last, more }: PageBuilder): SearchPage {
    // A book that has gone since the index was kept up is left out.
    const [row] = ids.length === 0 ? [] : this.#prepare(RENDER).all({ ids: JSON.stringify(ids) });
    const json = (row?.json as Uint8Array | null | undefined) ?? new Uint8Array();
    return { json, count: Number(row?.count ?? 0), last, more };
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    if (this.#statements.size >= STATEMENTS_MAX) this.#statements.clear();
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** How many prepared statements are kept. */
const STATEMENTS_MAX = 100;

await serveRequests(async (path) => new Searcher(await openConnection(path)));
