import type { Book } from '../book/contract.ts';
import type { BookPosition, SearchPage, SearchQuery } from './book-search.ts';
import type { Needles } from './folding.ts';
import type { Progress } from './index-wait.ts';
import type { Parameters } from './parameters.ts';

/** The snapshots of a store, which each engine takes in its own way. */
export interface Snapshots {
  /**
   * Runs one call of a search on a snapshot that has every write acknowledged before; if something fails, perhaps twice.
   *
   * @param arrivedAt when the search arrived, in nanoseconds of `process.hrtime`: it may share a snapshot that began later. Absent: now
   */
  run<Result>(
    use: IndexUse,
    search: (snapshot: Snapshot) => Promise<Result>,
    arrivedAt?: bigint,
  ): Promise<Outcome<Result>>;
  close(): Promise<void>;
}

/** Whether a search waits for the index, uses it only if it is up to date, or does without it. */
export type IndexUse = 'required' | 'if up to date' | 'none';

/** What a search has found; or how far the index is, if it lacks changes that the search must see. */
export type Outcome<Found> = { readonly found: Found } | { readonly progress: Progress };

/** The books of one moment: so a page has what matches, in its order, as it is returned. */
export type Snapshot = IndexedSnapshot | ScanSnapshot;

interface Rendering {
  /** Renders books as in {@link SearchPage}. */
  render(ids: readonly number[]): Promise<Pick<SearchPage, 'json' | 'count'>>;
}

export interface IndexedSnapshot extends Rendering {
  /** The books as an item of `from`: the index, or for a list by id alone the books themselves. */
  readonly books: string;
  readonly dialect: Dialect;
  rows(sql: string, parameters: Parameters): Promise<Row[]>;
  /** Finds books by their number in an order; absent if the books are not those of the index. */
  readonly positions?: Positions;
  /** About the number of books, if it is read at once. */
  readonly estimatedBooks?: number | undefined;
  /** The number of all matches, if the index of words has it. */
  countWords?(query: SearchQuery, needles: Needles): Promise<number | undefined>;
}

export interface Positions {
  /** The number of all books after a position in the order of a query, whose conditions do not matter. */
  countAfter(query: SearchQuery, after: BookPosition | undefined): Promise<number> | number;
  /** The position of the `number`-th book after another one; undefined if there are fewer. */
  find(
    query: SearchQuery,
    after: BookPosition | undefined,
    number: number,
  ): Promise<BookPosition | undefined> | BookPosition | undefined;
}

/** That of a store that cannot have an index. */
export interface ScanSnapshot extends Rendering {
  readonly readBooks: ReadBooks;
}

/** What statements look like. */
export interface Dialect {
  readonly parameterSign: '?' | '$';
  /** The function for the place of a text in another one, counted from 1; 0 if it is not in it. */
  readonly placeFunction: 'instr' | 'strpos';
  /** The character U+0001, which ends the words of a sort key. */
  readonly wordsEnd: string;
  /** The books of the store as an item of `from`. */
  readonly allBooks: string;
  /** Ways to select candidates by an index, the most selective first. */
  accessPaths(query: SearchQuery, needles: Needles | undefined): AccessPath[];
  /** The ways for a page by id, if one of them finds its candidates in this order. */
  pathsById?(
    query: SearchQuery,
    needles: Needles | undefined,
  ): Promise<Paths | undefined> | Paths | undefined;
  /** The candidates that {@link AccessPath} has selected, with the columns of the index, as the item `found` of `from`. */
  readonly candidates: string;
  /** The most candidates that a statement compares to count them. */
  readonly countedMax: number;
}

/** A statement that selects the candidates of a path for {@link Dialect.candidates}. */
export interface AccessPath {
  (parameters: Parameters): string;
  /** The same for their ids alone, if an index has these, as those of the orders also have: it is known sooner that they are too many. */
  readonly ids?: (parameters: Parameters) => string;
}

export interface Paths {
  /**
   * The path to candidates in the order of the query: the first 50 of a million take no longer than those of a thousand. Its statement ends
   * with conditions.
   */
  readonly ordered?: AccessPath | undefined;
  /** To candidates of a part of the ids. */
  readonly ranges?: RangedPath;
  /** Those whose candidates are sorted if they are few. */
  readonly others: readonly AccessPath[];
}

/** The lowest and the highest id of the books. */
export interface IdBounds {
  readonly first: number;
  readonly last: number;
}

/** The ids of the books are in ranges, the first of which begins at a multiple of their length. */
export interface RangedPath extends IdBounds {
  /** The length of a range. The candidates of a part of it take as long to read as all. */
  readonly rangeIds: number;
  /** Whether a range may have thousands of candidates: then the next books are compared first, which may fill the page. */
  readonly areMany: boolean;
  /** Selects the candidates from one id to another. */
  readonly select: (first: number, last: number) => AccessPath;
}

export interface Match extends BookPosition {
  /** The length of its texts. */
  readonly bytes: number;
}

/** Reads the next books that meet the `fieldCondition` of a query, which is by id. */
export type ReadBooks = (
  query: SearchQuery,
  after: BookPosition | undefined,
) => Promise<{ readonly books: readonly ReadBook[]; readonly isEnd: boolean }>;

export interface ReadBook extends Book {
  /** The length of its texts. */
  readonly bytes: number;
}

export type Row = Record<string, unknown>;
