import type { Book } from './contract.ts';

/** The log of the changes of the books of a store, whichever program made them. Rejects like {@link BookStore}. */
export interface BookHistory {
  /** The position of the last change that {@link read} returns. */
  last(): Promise<number>;

  /**
   * Reads changes. Every change has a position, and a position is never assigned below one that has been read: following the
   * positions returns each change exactly once, and those of a book in their order.
   */
  read(request: ChangeRequest): Promise<ChangePage>;

  /** Stores a deleted book again, as it was, under its id. @returns undefined when its deletion is not known */
  restore(id: number): Promise<Book | 'exists' | undefined>;
}

export interface ChangeRequest {
  /** The position after which to read, or before which with `id` or `isOfDeleted`; absent for the first change. */
  readonly after?: number | undefined;
  /** The maximum number of changes; fewer are returned if their books are long. */
  readonly limit: number;
  /** Reads the changes of this book only, the last one first. */
  readonly id?: number | undefined;
  /** Reads the deletions of books that have not been stored again since, the last one first. */
  readonly isOfDeleted?: boolean | undefined;
}

export interface ChangePage {
  /** Identifies the log; another store has another one. */
  readonly log: string;
  /** The position up to which changes are no longer kept. */
  readonly removed: number;
  /** As {@link BookHistory.last}. */
  readonly last: number;
  /** The highest position that can have been read; `last` may be below it for a moment. */
  readonly newest: number;
  /** Whether changes are still recorded; another process may have turned the history off. */
  readonly isRecorded: boolean;
  readonly changes: readonly Change[];
  /** The position of the last change that was read, also if it is none of the requested ones; undefined for the end. */
  readonly reached: number | undefined;
}

export interface Change {
  readonly position: number;
  readonly type: ChangeType;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** What the book became, or was before it was deleted. */
  readonly book: Book;
}

export type ChangeType = 'created' | 'updated' | 'deleted';
