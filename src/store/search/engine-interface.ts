import type { BookPosition, BookQuery, SearchPage } from '../../book/book-store-interface.ts';
import type { Condition, Parameters } from './conditions.ts';
import type { Needles } from './folding.ts';

/** What searches need of an engine: its statements over the search index, and over the books themselves. */
export interface SearchEngine {
  /**
   * Runs one call of a search; its statements see the books as they are after every write that was answered before.
   *
   * @param needsIndex whether to bring the index up to date first
   * @param search is given whether the index is up to date; without it the books themselves are scanned
   * @throws StoreUnavailable when the store is unavailable
   */
  run<Result>(needsIndex: boolean, search: (isIndexed: boolean) => Promise<Result>): Promise<Result>;

  indexDialect(query: BookQuery, needles: Needles | undefined): IndexDialect;

  /** The next books within the years of a query, in its order, read without the index; `scan` bounds their text. */
  nextBooks(query: BookQuery, after: BookPosition | undefined, scan: Scan): Promise<ScannedBooks>;

  /** The number of books within the years of a query, counted without the index. */
  countBooks(query: BookQuery): Promise<number>;

  /** Renders books as in {@link SearchPage}; those that no longer exist are left out. */
  render(ids: readonly number[]): Promise<Pick<SearchPage, 'json' | 'count'>>;

  close(): Promise<void>;
}

/** A book that matches a query. */
export interface Match extends BookPosition {
  /** The length of its texts. */
  readonly bytes: number;
}

/** How much a statement reads without the index. */
export interface Scan {
  /** The most books; the engine's own maximum when absent. */
  readonly limit: number | undefined;
  /** Whether to read their texts. */
  readonly hasTexts: boolean;
}

/** Books that are not compared yet. */
export interface ScannedBooks {
  /** With `title` and `author` where the texts were read. */
  readonly books: readonly (Match & { readonly title?: string; readonly author?: string })[];
  /** Whether no book follows them. */
  readonly isEnd: boolean;
}

/** What the statements of one query over the index are made of. Each compares a bounded amount of text, but at least one book. */
export interface IndexDialect {
  readonly parameterSign: '?' | '$';
  /** What narrows the books down by an index, the most selective first. */
  readonly accessPaths: readonly AccessPath[];
  /** An access path is used when it leads to this many books at most, … */
  readonly candidatesMax: number;
  /** … of this much text, in bytes. */
  readonly candidateBytesMax: number;
  /** The books of an access path as a part of `from`, which are looked up before anything else. */
  candidatesOf(path: AccessPath, parameters: Parameters, limit?: number): string;
  /** The condition on the texts of the query. */
  textsOf(parameters: Parameters): string;

  rows(sql: string, parameters: Parameters): Promise<Row[]>;
  /** Runs a statement that selects matches. @returns the first of them */
  matches(sql: string, parameters: Parameters, limit: number): Promise<readonly Match[]>;
  /** The number of matches that a part of a statement, from `from` on, selects. */
  count(from: string, parameters: Parameters): Promise<number>;
  /** The number of all matches, where the index itself has it. */
  countByIndex(): Promise<number | undefined>;

  /** Compares the first books of a range. @param match the condition of the whole query */
  compareIn(range: Condition, match: Condition, limit: number): Promise<ComparedMatches>;
  /** Compares books behind a position, in the order of their ids. */
  countBehind(after: BookPosition | undefined, match: Condition): Promise<ComparedCount>;
}

/** A row of a result, by the names of its columns. */
export type Row = Record<string, unknown>;

/** SQL that selects candidates, in terms of its engine. */
export type AccessPath = (parameters: Parameters) => string;

export interface ComparedMatches {
  readonly matches: readonly Match[];
  /** The last book compared; undefined where the range ends there, or where there are as many matches as allowed. */
  readonly end: BookPosition | undefined;
}

export interface ComparedCount {
  readonly count: number;
  /** The last book compared; undefined where none follows. */
  readonly end: BookPosition | undefined;
}
