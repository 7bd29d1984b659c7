import type { Book } from '../book/contract.ts';
import type { FollowerFault, LogPosition } from '../changes/log-position.ts';

/**
 * The log of the changes of the books of a store, whichever program made them. Every method rejects with `StoreUnavailable`
 * when the store is unavailable or, for a time, does not record its changes.
 */
export interface BookHistory extends AsyncDisposable {
  /** The cursor of the last change that followers can read; of the place where the log begins if there is none. */
  last(): Promise<ChangeCursor>;

  /**
   * Reads changes. Following the cursors from page to page returns each change exactly once, and those of a book in their
   * order; a change that a follower would miss is reported as a {@link CursorFault} instead.
   *
   * What is read with the last change first has every committed change at once; the changes for followers only those
   * before which no other can still be committed.
   *
   * @param begin called just before the page is read; what it throws rejects the call, and the page is not read
   */
  read(request: ChangeRequest, begin?: () => void): Promise<ChangePage | CursorFault>;

  /** Stores deleted books again, as they were, under their ids: all of them, or none. @returns them in the order of the deletions */
  restore(request: RestoreRequest): Promise<readonly Book[] | RestoreFault>;
}

export type ChangeCursor = LogPosition;

/** That of the follower whose last change has a cursor. */
export type CursorFault = FollowerFault;

export interface RestoreRequest {
  /** Of different books. */
  readonly deletions: readonly Deletion[];
  /** The most bytes of their texts together, as JSON. */
  readonly bytesMax?: number | undefined;
}

export interface Deletion {
  /** Of the book. */
  readonly id: number;
  /** Absent for the last deletion of the book. */
  readonly cursor?: ChangeCursor | undefined;
}

/**
 * Why no book was restored. It names the first deletion that is not known (`absent`), whose book `exists`, or which is not the last
 * change of its book, as this has `changed`; or the books are `too long`.
 */
export interface RestoreFault {
  readonly fault: 'absent' | 'exists' | 'changed' | 'too long';
  readonly index: number;
}

export interface ChangeRequest {
  /** The change after which to read, or before which if the last one is first; absent for the first change. */
  readonly after?: ChangeCursor | undefined;
  /** The maximum number of changes; fewer are returned if they have more than 1 MiB as JSON. */
  readonly limit: number;
  /**
   * Reads with the last change first: the changes of the book with this id, the changes of all books, or the deletions of books
   * that have not been stored again since. Absent for followers, who read the changes of all books in the order of commits.
   */
  readonly of?: number | 'all' | 'deleted';
}

export interface ChangePage {
  readonly changes: readonly Change[];
  /**
   * The cursor for the next page: of the last change that was read, also if it is none of the requested ones. When none was
   * read, that of the request, for followers without one of the place where the log begins, else undefined.
   */
  readonly next: ChangeCursor | undefined;
}

export interface Change {
  readonly cursor: ChangeCursor;
  readonly type: ChangeType;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** What the book became, or was before it was deleted. */
  readonly book: Book;
  /** In the history of a book: present when changes after this one, and before the next known one, may be missing. */
  readonly gapAfter?: true;
}

export type ChangeType = 'created' | 'updated' | 'deleted';
