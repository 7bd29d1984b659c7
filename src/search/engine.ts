import type { BookPosition, BookQuery, SearchPage } from './book-search.ts';
import type { Needles } from './folding.ts';
import type { Parameters } from './parameters.ts';

/** The part of a search that depends on the engine: statements over the search index, and over the books themselves. */
export interface SearchEngine {
  /**
   * Runs one call of a search on a snapshot that has every write acknowledged before; if something fails, perhaps twice.
   *
   * @param needsIndex whether the search uses the index if it is up to date
   */
  run<Result>(needsIndex: boolean, search: (snapshot: Snapshot) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** The books, and their index, at one moment: so a page has what matches, in its order, as it is returned. */
export interface Snapshot {
  /** Whether the index can be used: it has exactly the books of this moment. */
  readonly isIndexed: boolean;
  readonly dialect: Dialect;
  rows(sql: string, parameters: Parameters): Promise<Row[]>;
  /** Reads the next books that meet the `fieldCondition` of a query, by id or year, without the index. */
  nextBooks(query: BookQuery, after: BookPosition | undefined, scan: Scan): Promise<ScannedBooks>;
  /** Renders books as in {@link SearchPage}. */
  render(ids: readonly number[]): Promise<Pick<SearchPage, 'json' | 'count'>>;
  /** The number of all matches, if the index of words has it. */
  countWords?(query: BookQuery, needles: Needles): Promise<number | undefined>;
}

/** What statements look like. */
export interface Dialect {
  readonly parameterSign: '?' | '$';
  /** The function for the place of a text in another one, counted from 1; 0 if it is not in it. */
  readonly placeFunction: 'instr' | 'strpos';
  /** The title and the author in the index, in lower case. */
  readonly lower: Readonly<Record<'title' | 'author', string>>;
  /** All books as an item of `from`. */
  readonly allBooks: string;
  /** Ways to select candidates by an index, the most selective first. */
  accessPaths(query: BookQuery, needles: Needles | undefined): AccessPath[];
  /** The candidates that {@link AccessPath} has selected, with the columns of the index, as an item of `from`. */
  readonly candidates: string;
  /** The most candidates that a statement compares to count them. */
  readonly countedMax: number;
}

/** A statement that selects the candidates of a path for {@link Dialect.candidates}. */
export type AccessPath = (parameters: Parameters) => string;

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

export type Row = Record<string, unknown>;
