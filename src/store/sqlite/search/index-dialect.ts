import type { StatementSync } from 'node:sqlite';
import type { BookCount, BookPosition, BookQuery } from '../../../book/book-store-interface.ts';
import {
  afterCondition,
  type Condition,
  fieldCondition,
  hasFieldCondition,
  matchColumns,
  orderOf,
  Parameters,
  selectPosition,
} from '../../search/conditions.ts';
import type { AccessPath, ComparedMatches, IndexDialect, Match, Row } from '../../search/engine-interface.ts';
import type { Needles } from '../../search/folding.ts';
import { type MatchFunctions, TooMuchText } from './match-functions.ts';
import { areExact, LONG_MARK, trigramsQueryOf, wordsQueryOf } from './trigrams.ts';

/** The most books, and the most characters of their texts, that a statement compares. */
const WINDOW_BOOKS = 20_000;
const WINDOW_LENGTH = 4 * 1_024 * 1_024;

/** The cost of `instr` is the product of the lengths of text and part. */
const SHORT_BYTES = 256;
const BEGINNING = /^.{1,16}/su;

/** Statements over the index; those of one call run in one read transaction. */
export class SqliteIndexDialect implements IndexDialect {
  readonly parameterSign = '?';
  readonly accessPaths: readonly AccessPath[];
  readonly sortedMax = { books: 5_000, bytes: WINDOW_LENGTH };
  readonly countedMax = this.sortedMax;
  /** SQLite would copy texts, of any length, to a temporary file. */
  readonly keptColumns = 'id';
  readonly keptBooks = 'candidates cross join book_search using (id)';
  readonly #query: BookQuery;
  readonly #needles: Needles | undefined;
  readonly #functions: MatchFunctions;
  readonly #prepare: (sql: string) => StatementSync;

  constructor(
    query: BookQuery,
    needles: Needles | undefined,
    functions: MatchFunctions,
    prepare: (sql: string) => StatementSync,
  ) {
    this.#query = query;
    this.#needles = needles;
    this.#functions = functions;
    this.#prepare = prepare;
    this.accessPaths = accessPathsOf(query, needles);
  }

  /** `cross join` makes SQLite evaluate the candidates first, of which there are few. */
  candidatesOf(path: AccessPath, parameters: Parameters, limit: number): string {
    return `(${path(parameters)} limit ${limit}) as candidates cross join book_search using (id)`;
  }

  /** SQLite itself looks for the first word in short texts, which takes half the time of `is_match`. */
  textCondition(parameters: Parameters): string {
    if (!this.#needles) return 'true';
    const { title, author, words } = this.#needles;
    const isMatch = `is_match(${title ? 'title_lower' : 'null'}, ${author ? 'author_lower' : 'null'}, ${words.length > 0 ? 'words' : 'null'})`;
    const beginning = BEGINNING.exec(words[0] ?? '')?.[0];
    if (beginning === undefined) return isMatch;
    return `(octet_length(words) > ${SHORT_BYTES} or instr(words, ${parameters.add(beginning)}) > 0) and ${isMatch}`;
  }

  firstBooks(condition: string): string {
    return `book_search where ${condition}`;
  }

  async positionAt(range: Condition, number: number): Promise<BookPosition | undefined> {
    const parameters = new Parameters('?');
    const sql = selectPosition(this.#query, 'book_search', range(parameters), parameters.add(number));
    return (await this.rows(sql, parameters))[0] as BookPosition | undefined;
  }

  async rows(sql: string, { values }: Parameters): Promise<Row[]> {
    this.#functions.begin(this.#needles, WINDOW_LENGTH);
    return this.#prepare(sql).all(...(values as (string | number)[]));
  }

  rowsFor(limit: number): number {
    return limit;
  }

  async confirm(selected: readonly Match[]): Promise<readonly Match[]> {
    return selected;
  }

  countColumns(condition: string): string {
    return `count(*) filter (where ${condition}) as count`;
  }

  async countOf(row: Row | undefined): Promise<number> {
    return Number(row?.count);
  }

  /** The index of words can count the matches of short ones, if it has all texts, without long ones. */
  async countWords(): Promise<number | undefined> {
    if (!this.#needles || !areExact(this.#needles) || hasFieldCondition(this.#query)) return undefined;
    const count = async (words: string, limit: string) => {
      const parameters = new Parameters('?');
      const rows = `select 1 from book_words where book_words match ${parameters.add(words)} ${limit}`;
      const [row] = await this.rows(`select count(*) as count from (${rows})`, parameters);
      return Number(row?.count);
    };
    if ((await count(`"${LONG_MARK}"`, 'limit 1')) > 0) return undefined;
    return count(wordsQueryOf(this.#needles) ?? '', '');
  }

  async compareIn(range: Condition, match: Condition, limit: number): Promise<ComparedMatches> {
    const order = orderOf(this.#query);
    const select = (window: string, parameters: Parameters) =>
      `select ${matchColumns(this.#query)} from ${window} where ${match(parameters)} limit ${limit}`;
    const { size, rows } = await this.#inWindow(range, order, select);
    const matches = rows as unknown as Match[];
    const end = matches.length === limit ? undefined : await this.positionAt(range, size);
    return { matches, end };
  }

  async countAfter(after: BookPosition | undefined, match: Condition): Promise<BookCount> {
    const byId: BookQuery = { ...this.#query, sort: 'id', isDescending: false };
    const select = (window: string, parameters: Parameters) =>
      `select count(*) as compared, max(id) as last, count(*) filter (where ${match(parameters)}) as count from ${window}`;
    const { size, rows } = await this.#inWindow(afterCondition(byId, after), 'id', select);
    const { compared, last, count } = rows[0] as { compared: number; last: number; count: number };
    return { count, last: compared < size ? undefined : { key: last, id: last } };
  }

  /** Runs a statement over the first books of a range, fewer if their texts are long. @returns their number, too */
  async #inWindow(
    range: Condition,
    order: string,
    statement: (window: string, parameters: Parameters) => string,
  ): Promise<{ readonly size: number; readonly rows: Row[] }> {
    for (;;) {
      const size = this.#functions.windowBooks;
      const parameters = new Parameters('?');
      const window = `(select * from book_search where ${range(parameters)} order by ${order} limit ${size})`;
      try {
        const rows = await this.rows(statement(window, parameters), parameters);
        if (this.#functions.isHalfEmpty) this.#functions.windowBooks = Math.min(2 * size, WINDOW_BOOKS);
        return { size, rows };
      } catch (error) {
        if (!(error instanceof TooMuchText)) throw error;
        this.#functions.windowBooks = error.books;
      }
    }
  }
}

function accessPathsOf(query: BookQuery, needles: Needles | undefined): AccessPath[] {
  const paths: AccessPath[] = [];
  for (const [table, ftsQuery] of [
    ['book_words', wordsQueryOf(needles)],
    ['book_trigrams', trigramsQueryOf(needles)],
  ]) {
    if (ftsQuery === undefined) continue;
    paths.push((parameters) => {
      const words = parameters.add(`(${ftsQuery}) OR "${LONG_MARK}"`);
      return `select rowid as id from ${table} where ${table} match ${words}`;
    });
  }
  if (hasFieldCondition(query))
    paths.push((parameters) => `select id from book_search where ${fieldCondition(query, parameters)}`);
  return paths;
}
