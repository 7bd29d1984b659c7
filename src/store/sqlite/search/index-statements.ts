import type { SQLOutputValue, StatementSync } from 'node:sqlite';
import type { BookPosition, BookQuery } from '../../../book/book.ts';
import {
  behind,
  COMPARED_BYTES,
  type Condition,
  hasYears,
  keyColumnOf,
  matchColumns,
  orderOf,
  Parameters,
  yearsOf,
} from '../../search/conditions.ts';
import type {
  AccessPath,
  ComparedCount,
  ComparedMatches,
  IndexStatements,
  Match,
} from '../../search/engine-interface.ts';
import type { Needles } from '../../search/folding.ts';
import { type MatchFunctions, TooMuchText } from './match-functions.ts';
import { areExact, LONG_MARK, trigramsOf } from './trigrams.ts';

/** The most books, and the most characters of their texts, that a statement compares. */
const WINDOW_BOOKS = 20_000;
const WINDOW_LENGTH = 4 * 1_024 * 1_024;

/** The most books of a selective access path; their texts have at most as many bytes as those of a window characters. */
const CANDIDATE_BOOKS = 5_000;

/** Statements over the index, within a read transaction. */
export class SqliteIndexStatements implements IndexStatements {
  readonly accessPaths: readonly AccessPath[];
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

  async isSelective(path: AccessPath): Promise<boolean> {
    const parameters = new Parameters('?');
    const [row] = this.#rows(
      `select count(*) as count, sum(${COMPARED_BYTES}) as bytes
       from ${candidatesOf(`${path(parameters)} limit ${CANDIDATE_BOOKS + 1}`)}`,
      parameters,
    );
    return Number(row?.count) <= CANDIDATE_BOOKS && Number(row?.bytes) <= WINDOW_LENGTH;
  }

  async matchesOn(path: AccessPath, after: BookPosition | undefined, limit: number): Promise<Match[]> {
    const parameters = new Parameters('?');
    return this.#rows(
      `select ${matchColumns(this.#query)} from ${candidatesOf(path(parameters))}
       where ${behind(this.#query, after, parameters)} and ${this.#match(parameters)}
       order by ${orderOf(this.#query)} limit ${limit}`,
      parameters,
    ) as unknown as Match[];
  }

  async countOn(path: AccessPath): Promise<number> {
    const parameters = new Parameters('?');
    return this.#count(`${candidatesOf(path(parameters))} where ${this.#match(parameters)}`, parameters);
  }

  async booksIn(range: Condition, limit: number): Promise<Match[]> {
    const parameters = new Parameters('?');
    return this.#rows(
      `select ${matchColumns(this.#query)} from book_search
       where ${range(parameters)} and ${yearsOf(this.#query, parameters)}
       order by ${orderOf(this.#query)} limit ${limit}`,
      parameters,
    ) as unknown as Match[];
  }

  async compareIn(range: Condition, limit: number): Promise<ComparedMatches> {
    const order = orderOf(this.#query);
    const { size, rows } = this.#inWindow((books) => {
      const parameters = new Parameters('?');
      const window = `select * from book_search where ${range(parameters)} order by ${order} limit ${books}`;
      return this.#rows(
        `select ${matchColumns(this.#query)} from (${window}) where ${this.#match(parameters)} limit ${limit}`,
        parameters,
      );
    });
    const matches = rows as unknown as Match[];
    if (matches.length === limit) return { matches, end: undefined };
    const parameters = new Parameters('?');
    const [end] = this.#rows(
      `select id, ${keyColumnOf(this.#query)} as key from book_search
       where ${range(parameters)} order by ${order} limit 1 offset ${size - 1}`,
      parameters,
    );
    return { matches, end: end as BookPosition | undefined };
  }

  /** The full-text index counts words that it has as a whole, unless there are long texts, which it does not have. */
  async countAll(): Promise<number | undefined> {
    const parameters = new Parameters('?');
    if (!this.#needles)
      return this.#count(`book_search where ${yearsOf(this.#query, parameters)}`, parameters);
    if (!areExact(this.#needles) || hasYears(this.#query)) return undefined;
    const words = `book_words where book_words match ${parameters.add(trigramsOf(this.#needles) ?? '')}`;
    const ofLongTexts = new Parameters('?');
    const longTexts = `(select 1 from book_words where book_words match ${ofLongTexts.add(`"${LONG_MARK}"`)} limit 1)`;
    return this.#count(longTexts, ofLongTexts) > 0 ? undefined : this.#count(words, parameters);
  }

  async countBehind(after: BookPosition | undefined): Promise<ComparedCount> {
    const byId: BookQuery = { ...this.#query, sort: 'id', isDescending: false };
    const { size, rows } = this.#inWindow((books) => {
      const parameters = new Parameters('?');
      const window = `select * from book_search where ${behind(byId, after, parameters)} order by id limit ${books}`;
      return this.#rows(
        `select count(*) as compared, max(id) as last, count(*) filter (where ${this.#match(parameters)}) as count
         from (${window})`,
        parameters,
      );
    });
    const { compared, last, count } = rows[0] as { compared: number; last: number; count: number };
    return { count, end: compared < size ? undefined : { key: last, id: last } };
  }

  /** Runs a statement over a number of books, fewer of them where their texts are long. @returns that number, too */
  #inWindow(run: (books: number) => Row[]): { readonly size: number; readonly rows: Row[] } {
    for (;;) {
      const size = this.#functions.windowBooks;
      try {
        const rows = run(size);
        if (this.#functions.isHalfEmpty) this.#functions.windowBooks = Math.min(2 * size, WINDOW_BOOKS);
        return { size, rows };
      } catch (error) {
        if (!(error instanceof TooMuchText)) throw error;
        this.#functions.windowBooks = error.books;
      }
    }
  }

  #count(from: string, parameters: Parameters): number {
    const [row] = this.#rows(`select count(*) as count from ${from}`, parameters);
    return Number(row?.count);
  }

  #rows(sql: string, { values }: Parameters): Row[] {
    this.#functions.begin(this.#needles, WINDOW_LENGTH);
    return this.#prepare(sql).all(...(values as (string | number)[]));
  }

  #match(parameters: Parameters): string {
    return `${textsOf(this.#needles)} and ${yearsOf(this.#query, parameters)}`;
  }
}

type Row = Record<string, SQLOutputValue>;

/** Statements that select the ids of candidates. */
function accessPathsOf(query: BookQuery, needles: Needles | undefined): AccessPath[] {
  const trigrams = trigramsOf(needles);
  const paths: AccessPath[] = [];
  if (trigrams !== undefined)
    paths.push(
      (parameters) =>
        `select rowid as id from book_words where book_words match ${parameters.add(`(${trigrams}) OR "${LONG_MARK}"`)}`,
    );
  if (hasYears(query))
    paths.push((parameters) => `select id from book_search where ${yearsOf(query, parameters)}`);
  return paths;
}

/** The candidates first, whatever the planner estimates: an access path that is used leads to few of them. */
function candidatesOf(ids: string): string {
  return `(${ids}) as candidates cross join book_search using (id)`;
}

/** The condition on the texts, by a function of MatchFunctions, which limits what a statement compares. */
function textsOf(needles: Needles | undefined): string {
  if (!needles) return 'true';
  const title = needles.title ? 'title_lower' : 'null';
  const author = needles.author ? 'author_lower' : 'null';
  return `is_match(${title}, ${author}, ${needles.words.length > 0 ? 'words' : 'null'})`;
}
