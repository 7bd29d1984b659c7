import type { Book, BookFields } from './contract.ts';

/**
 * A store of books. Both engines guarantee:
 *
 * - Results are committed durably. A call that rejects may or may not have been executed.
 * - Each call is atomic, and calls are linearizable: one that starts after another has resolved sees its effect.
 * - Ids are never reused, not even after a deletion or a crash.
 * - Every method rejects with {@link StoreUnavailable} when the store is unreachable or cannot execute the call. The store recovers by
 *   itself: the next call tries again. A call that writes rejects with {@link TableRejection} when the table does not accept its books,
 *   and has changed nothing. Any other rejection is a bug.
 *
 * Arguments are valid (see `readBook` and `readBookId`); the store does not check them again.
 */
export interface BookStore extends AsyncDisposable {
  /** Stores a new book and assigns an id. */
  create(fields: BookFields): Promise<Book>;

  /**
   * Like {@link create}, but once only for each key: for 24 hours, calls with the same key and fields return the book as it
   * was created, even if it has been changed or deleted. Key and book are stored in one transaction.
   *
   * @param key 1 to 255 characters of ASCII
   * @returns undefined when the key has created a book with other fields
   */
  createOnce(fields: BookFields, key: string): Promise<Book | undefined>;

  /**
   * Stores new books, all or none, and assigns ids in ascending order.
   *
   * @param books JSON arrays, in UTF-8, of objects with the fields of a book in order, all valid; several, to limit their size
   * @param key as for {@link createOnce}: later calls with the same key and books return the books as they were created
   * @returns the books as stored, in the same order, in pages that are rendered like a {@link ListPage}; undefined when the
   *   key has created other books
   */
  createMany(books: readonly Uint8Array[], key?: string): Promise<Uint8Array[] | undefined>;

  /**
   * Changes and deletes books, all or none.
   *
   * @param updates JSON arrays, in UTF-8, of `UpdateItem`s (src/book/book-update.ts) with distinct ids; several, to limit their size
   * @returns the books as stored, in the order of the updates, with null for deleted ones, in pages as {@link createMany}
   *   has them; or why nothing was changed
   */
  updateMany(updates: readonly Uint8Array[]): Promise<Uint8Array[] | UpdateFault>;

  /** The book with this id, or undefined when there is none. */
  find(id: number): Promise<Book | undefined>;

  /**
   * One page of all books in ascending order of id (keyset pagination). Following `last` from page to page returns every
   * book that exists throughout exactly once.
   *
   * @param after the `last` of the previous page; absent for the first page
   */
  list(after?: number, options?: PageOptions): Promise<ListPage>;

  /**
   * Changes the given fields of a book; the others keep their stored values, also those of concurrent calls.
   *
   * @returns the whole book as stored, or undefined when there is none
   */
  update(id: number, fields: Partial<BookFields>): Promise<Book | undefined>;

  /** Deletes a book. @returns whether there was one */
  delete(id: number): Promise<boolean>;

  /**
   * Like {@link update}, if the book still equals `expected`: of concurrent calls that expect the same, one succeeds.
   *
   * @returns the whole book as stored, or undefined when there is none that equals `expected`
   */
  updateExpected(expected: Book, fields: Partial<BookFields>): Promise<Book | undefined>;

  /** Deletes the book if it still equals `expected`. @returns whether it did */
  deleteExpected(expected: Book): Promise<boolean>;

  /** Resolves when the store can be read, without waiting in the queue of the calls. It does not test writing. */
  check(): Promise<void>;

  /**
   * Resolves, with the reason in one line, when acknowledged writes may be lost. The store then accepts no calls, and the
   * process must exit. Absent on PostgreSQL, where the server is responsible. A temporary outage does not resolve it.
   */
  readonly lost?: Promise<string>;

  /** Waits for calls in progress, then releases the resources of the store. Later calls reject. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Why {@link BookStore.updateMany} has changed nothing. */
export interface UpdateFault {
  /**
   * The stored books have more than {@link UPDATED_BYTES_MAX} of text together, or the result has more; or there is no book, or one
   * with another tag, for the update at `index`, the first such one.
   */
  readonly fault: 'too long' | 'absent' | 'other tag';
  readonly index: number;
}

/**
 * The bytes of text that the books of {@link BookStore.updateMany} may have before it, and the bytes of its result: of JSON, in which
 * a control character has six. Updates of all texts fit into it: their body has up to 16 MiB, and 10,000 books have less than 1 MiB of
 * names, ids and years. It is against the honest accident, an update of many books by id, whose response exhausts the memory.
 */
export const UPDATED_BYTES_MAX = 17 * 1_024 * 1_024;

/** The length of a page of several books, unless its caller gives another one. */
export const PAGE_BYTES_MAX = 1_024 * 1_024;

/** How a page is read. */
export interface PageOptions {
  /** The most books of the page; the store has a default. */
  readonly books?: number;
  /** The most bytes of a page of several books, which ends where the next one does not fit. */
  readonly bytes?: number;
  /** Called just before the page is read. What it throws rejects the call, and the page is not read. */
  readonly begin?: (() => void) | undefined;
}

/** A page of all books. */
export interface ListPage {
  /** JSON objects separated by commas, in UTF-8; empty when there are none. */
  readonly json: Uint8Array;
  /** The id of the last book of the page; undefined when no page follows. */
  readonly last: number | undefined;
  /**
   * Frees the memory of `json`, which is then empty, when all callers that share it have called this once. Without it, a garbage collection
   * does. No program may read or send the bytes any more.
   */
  readonly free?: () => void;
}

/** A constraint, a trigger or a type of the table, which another program may have made, does not accept a book. */
export class TableRejection extends Error {
  override readonly name = 'TableRejection';
  /** What does not accept it, such as `UNIQUE (books.title)`: for the client and the log, in ASCII, without values or SQL. */
  readonly constraint: string;
  /** The index of the book in a call with several, if the engine reports it. */
  readonly index: number | undefined;

  /** @param constraint with the names of the engine, in which others than those in ASCII are escaped */
  constructor(constraint: string, index?: number) {
    const escaped = constraint.replace(/[^ -~]/g, toEscape);
    super(`the table books does not accept this book: ${escaped}`);
    this.constraint = escaped;
    this.index = index;
  }
}

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** What rejects a book that is not stored, without an error of the engine. */
export const LEFT_OUT = 'a trigger or a constraint that leaves out books';

/** The store is unreachable, full, or overloaded. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  /** A short code for the log, such as `ECONNREFUSED`, `57P01` or `SQLITE_FULL`; never the text of a driver. */
  readonly reason: string;
  /** The `Error-Detail` for the client, in ASCII; absent if there is none. */
  readonly detail: string | undefined;

  constructor(reason: string, detail?: string) {
    super(`the store is unavailable (${reason})`);
    this.reason = reason;
    this.detail = detail;
  }
}
