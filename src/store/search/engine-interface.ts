import type {
  BookCount,
  BookPosition,
  BookQuery,
  SearchPage,
  SortKey,
} from '../../book/book-store-interface.ts';
import type { Condition, Parameters } from './conditions.ts';
import type { Needles } from './folding.ts';

/** The part of a search that depends on the engine: statements over the search index, and over the books themselves. */
export interface SearchEngine {
  /** Runs one call of a search, which sees every acknowledged write, by the index if that is up to date. */
  run<Result>(needsIndex: boolean, search: (isIndexed: boolean) => Promise<Result>): Promise<Result>;
  indexDialect(query: BookQuery, needles: Needles | undefined): IndexDialect;
  /** Reads the next books that meet the {@link fieldCondition} of a query, by id or year, without the index. */
  nextBooks(query: BookQuery, after: BookPosition | undefined, scan: Scan): Promise<ScannedBooks>;
  readonly parameterSign: '?' | '$';
  /** All books as an item of `from`. @param sort the order in which a statement reads them */
  allBooks(sort: SortKey): string;
  rows(sql: string, parameters: Parameters): Promise<Row[]>;
  /** Renders books as in {@link SearchPage}, without those that no longer exist. */
  render(ids: readonly number[]): Promise<Pick<SearchPage, 'json' | 'count'>>;
  close(): Promise<void>;
}

export interface Match extends BookPosition {
  /** The length of its texts. */
  readonly bytes: number;
}

/** The extent of a statement without the index. */
export interface Scan {
  /** The most books; the maximum of the engine when undefined. */
  readonly limit: number | undefined;
  readonly hasTexts: boolean;
}

export interface ScannedBooks {
  readonly books: readonly (Match & { readonly title?: string; readonly author?: string })[];
  readonly isEnd: boolean;
}

/** The statements of one query over the index. Each compares a bounded amount of text, but at least one book. */
export interface IndexDialect {
  readonly parameterSign: '?' | '$';
  /** Ways to select candidates by an index, the most selective first. */
  readonly accessPaths: readonly AccessPath[];
  /** The most candidates of an access path that a statement compares and sorts, and that it compares to count them. */
  readonly sortedMax: TextSize;
  readonly countedMax: TextSize;
  /** The candidates of an access path as an item of `from`, which the planner evaluates first. */
  candidatesOf(path: AccessPath, parameters: Parameters, limit: number): string;
  /** The columns of candidates that a statement keeps under the name `candidates`, and those books as an item of `from`. */
  readonly keptColumns: string;
  readonly keptBooks: string;
  textCondition(parameters: Parameters): string;

  /** What follows `from` in a statement that selects the first books, in the order of the query, that meet a condition. */
  firstBooks(condition: string, limit: number): string;

  /** The position of the `number`-th book of a range, in the order of the query; undefined when there are fewer. */
  positionAt(range: Condition, number: number): Promise<BookPosition | undefined>;

  rows(sql: string, parameters: Parameters): Promise<Row[]>;
  /** The most rows that a statement must select for so many matches. */
  rowsFor(limit: number): number;
  /** @returns the first of the selected books that do match */
  confirm(selected: readonly Match[], limit: number): Promise<readonly Match[]>;
  /** Columns of a statement that counts the books that meet a condition, and the count of its row. */
  countColumns(condition: string): string;
  countOf(row: Row | undefined): Promise<number>;
  /** The number of all matches, if the index of words has it. */
  countWords?(): Promise<number | undefined>;

  /** Compares the first books of a range. @param match the condition of the whole query */
  compareIn(range: Condition, match: Condition, limit: number): Promise<ComparedMatches>;
  /** Compares books after a position, in ascending order of id. */
  countAfter(after: BookPosition | undefined, match: Condition): Promise<BookCount>;
}

export type Row = Record<string, unknown>;

/** A number of books, and of the bytes of their texts. */
export interface TextSize {
  readonly books: number;
  readonly bytes: number;
}

export type AccessPath = (parameters: Parameters) => string;

export interface ComparedMatches {
  readonly matches: readonly Match[];
  /** The last book compared; undefined at the end of the range, and when the limit of matches was reached. */
  readonly end: BookPosition | undefined;
}
