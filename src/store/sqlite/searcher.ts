import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { BookCount, BookPosition, BookQuery, SearchPage } from '../../book.ts';
import { type Finding, isPlain } from '../finding.ts';
import { lowerCase, wordsOf } from '../text.ts';
import { openConnection } from './connection.ts';
import { toStoreError } from './errors.ts';
import { Look, type Row } from './look.ts';
import { SearchIndex } from './search-index.ts';
import { RENDER, type Sql } from './search-sql.ts';
import { type Answerer, answerFrom } from './thread.ts';

/** What is asked of the thread that searches: a page of up to `limit` books, or a number of books. */
export interface SearchRequest {
  readonly query: BookQuery;
  readonly after: BookPosition | undefined;
  readonly limit: number | 'count';
}

/**
 * The thread that searches. Its index is behind the books: it catches up before a search, so that this sees every write
 * that was answered before. While there is too much to catch up with, the books themselves are looked through.
 */
class Searcher implements Answerer<SearchRequest, SearchPage | BookCount> {
  readonly #database: DatabaseSync;
  #index: SearchIndex | undefined;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    database.function('lower_case', { deterministic: true }, (text) => lowerCase(String(text)));
    database.function('words_of', { deterministic: true }, (title, author) =>
      wordsOf(String(title), String(author)),
    );
  }

  async answer({ query, after, limit }: SearchRequest): Promise<SearchPage | BookCount> {
    try {
      const isIndexed = !isPlain(query) && (await this.#catchUp());
      this.#database.exec('begin');
      try {
        const look = new Look(query, isIndexed, (sql, values) => this.#rows(sql, values));
        return limit === 'count' ? look.count(after) : this.#page(look.find(limit, after));
      } finally {
        if (this.#database.isTransaction) this.#database.exec('rollback');
      }
    } catch (error) {
      throw toStoreError(error);
    }
  }

  transfer(response: SearchPage | BookCount): ArrayBuffer[] {
    return 'json' in response && response.json.length > 0 ? [response.json.buffer as ArrayBuffer] : [];
  }

  close(): void {
    this.#index?.close();
    this.#database.close();
  }

  /** @returns whether there is an index that is up to date: there may be no room for one, and it can be done without */
  async #catchUp(): Promise<boolean> {
    try {
      this.#index ??= await SearchIndex.open(this.#database);
      return this.#index.catchUp();
    } catch {
      return false;
    }
  }

  #page({ ids, last, rest }: Finding): SearchPage {
    // A book that has gone since the index was kept up is left out.
    const [row] = ids.length === 0 ? [] : this.#rows(RENDER, { ids: JSON.stringify(ids) });
    const json = (row?.json as Uint8Array | null | undefined) ?? new Uint8Array();
    return { json, count: Number(row?.count ?? 0), last, rest };
  }

  /** One after the other, as they may be long. */
  #rows(sql: string, values: Sql['values']): Iterable<Row> {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    if (this.#statements.size >= STATEMENTS_MAX) this.#statements.clear();
    this.#statements.set(sql, statement);
    return statement.iterate(values);
  }
}

/** How many prepared statements are kept. */
const STATEMENTS_MAX = 100;

await answerFrom(async (path) => new Searcher(await openConnection(path)));
