import type { Book, BookFields } from './contract.ts';
import { type JsonFields, readJsonObject } from './json-object.ts';

export type { Book, BookFields };

/** The largest id: what a JSON number carries exactly (RFC 8259, section 6). */
export const ID_MAX = Number.MAX_SAFE_INTEGER;

/** The largest year either way, for the same reason. */
export const YEAR_MAX = Number.MAX_SAFE_INTEGER;

/** What a book has where the client said nothing: the specification requires no field. */
export const EMPTY_BOOK: BookFields = { title: '', author: '', year: 0 };

/** How the fields of a book are read. */
export const BOOK_FIELD_TYPES = { title: 'text', author: 'text', year: 'integer' } as const;

/**
 * Reads a request body as the fields of a new book; absent fields are empty.
 *
 * @returns the fields, or undefined when the bytes cannot be read as a Book (specification, POST /book).
 */
export function readBook(body: Uint8Array): BookFields | undefined {
  const fields = readBookChanges(body);
  return fields && { ...EMPTY_BOOK, ...fields };
}

/**
 * Reads a request body as changes to a book; absent fields are absent from the result.
 *
 * @returns the changes, or undefined when the bytes cannot be read as a Book (specification, PUT /book/{id}).
 */
export function readBookChanges(body: Uint8Array): Partial<BookFields> | undefined {
  return readJsonObject(body, BOOK_FIELD_TYPES) satisfies JsonFields<typeof BOOK_FIELD_TYPES> | undefined;
}

/**
 * Reads the `{id}` of a path.
 *
 * @returns the id, or undefined when no book can have it: not `^[0-9]+$`, or beyond {@link ID_MAX}.
 */
export function readBookId(text: string): number | undefined {
  const id = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  return id <= ID_MAX ? id : undefined;
}

/** By what a list can be sorted. */
export const SORT_KEYS = ['id', 'title', 'author', 'year'] as const;
export type SortKey = (typeof SORT_KEYS)[number];

/**
 * How many code points of a title or an author count in their order: the sort key is no longer, so that every place in a
 * list fits into a URL, and every key into an index.
 */
export const SORT_KEY_LENGTH = 250;

/** Which books are asked for, and in which order. All conditions hold at once; NULL counts as `""` or `0`. */
export interface BookQuery {
  /** Texts are in the order of their first {@link SORT_KEY_LENGTH} code points, and books with equal keys in ascending order of id, either way. */
  readonly sort: SortKey;
  readonly isDescending: boolean;
  /** The title contains this text, whatever the case (src/store/search/folding.ts says what case is). */
  readonly title?: string;
  /** The author contains this text, likewise. */
  readonly author?: string;
  /** Every word of this text begins a word of title or author, whatever the case and the accents. */
  readonly q?: string;
  /** The first and the last year that count. */
  readonly yearFrom: number;
  readonly yearTo: number;
}

/** A place in the order of a query: behind the book of this key and id, whether or not there is one. */
export interface BookPosition {
  /** The sort key: a number, or the first {@link SORT_KEY_LENGTH} code points of a text. */
  readonly key: string | number;
  readonly id: number;
}

/**
 * Where books are kept. Every engine keeps the same promises:
 *
 * - What is answered has been committed durably. A call that rejects may or may not have happened.
 * - Each call is atomic, and calls are linearizable: one that starts after another was answered sees its effect.
 * - An id is never given out twice, not even after its book was deleted or the process was killed.
 * - Every method rejects with {@link StoreUnavailable} when the store cannot be reached or cannot take the call;
 *   any other rejection is a defect. The store recovers by itself: the next call tries again.
 *
 * Arguments are taken as valid (see {@link readBook} and {@link readBookId}); nothing is checked again.
 */
export interface BookStore extends AsyncDisposable {
  /** Stores a new book and gives it an id. */
  create(fields: BookFields): Promise<Book>;

  /**
   * Like {@link create}, but once only for a key: for 24 hours, whoever comes with the same key and the same fields gets
   * the book as it was created first, whatever became of it. The key is stored in one atomic step with the book.
   *
   * @param key 1 to 255 characters of ASCII
   * @returns undefined when the key has created a book of other fields
   */
  createOnce(fields: BookFields, key: string): Promise<Book | undefined>;

  /**
   * Stores new books, all or none, and gives them ids.
   *
   * @param books JSON arrays, in UTF-8, of objects with the fields of a book, all valid; several, so that nobody needs
   *   all books as one text
   * @returns the books as they are stored, in their order, in pages that are rendered like a {@link BookPage}
   */
  createMany(books: readonly Uint8Array[]): Promise<Uint8Array[]>;

  /** The book of this id, or undefined when there is none. */
  find(id: number): Promise<Book | undefined>;

  /**
   * One page of all books in ascending order of id: those whose id is above `after`. Following `last` from page
   * to page meets every book that exists during the whole walk exactly once (keyset pagination).
   *
   * @param after the `last` of the page before; absent for the first page
   */
  list(after?: number): Promise<BookPage>;

  /**
   * The first books behind `after` that a query asks for. A call looks at books for a bounded time, and returns what
   * it has found so far: the next one goes on at `last`. Following it meets every book exactly once that matches and
   * keeps its place during the whole walk.
   *
   * @param limit the most books to return; 0 only asks whether there are any
   * @param after a place in the order of this query; absent for the beginning
   * @param signal ends the wait at once: the call rejects with its reason, and leaves the queue
   */
  search(query: BookQuery, limit: number, after?: BookPosition, signal?: AbortSignal): Promise<SearchPage>;

  /**
   * Counts the books that a query asks for, behind `after`, and for a bounded time as well: the total is the sum of
   * the calls.
   */
  count(query: BookQuery, after?: BookPosition, signal?: AbortSignal): Promise<BookCount>;

  /**
   * Changes the given fields of a book in one atomic step; the others keep their stored values, whatever
   * concurrent calls do to them.
   *
   * @returns the whole book as stored, or undefined when there is none
   */
  update(id: number, changes: Partial<BookFields>): Promise<Book | undefined>;

  /** Removes the book. @returns whether there was one */
  delete(id: number): Promise<boolean>;

  /**
   * Like {@link update}, in one atomic step with the question whether the book still is as expected: of several callers
   * that expect the same, one gets its changes done.
   *
   * @returns the whole book as stored, or undefined when there is none that is as expected
   */
  updateExpected(expected: Book, changes: Partial<BookFields>): Promise<Book | undefined>;

  /** Removes the book if it still is as expected. @returns whether it was */
  deleteExpected(expected: Book): Promise<boolean>;

  /**
   * Resolves when the store can be read at present: it was asked for no book, on the way that calls for single books
   * take, but without waiting in their queue. Whether it can be written shows in nothing but a write.
   */
  check(): Promise<void>;

  /**
   * Resolves when what this store has acknowledged may be lost, with the reason in one line for people. It answers
   * no call any more; the process has to end. A store that is away for a while is not lost. Absent where it cannot
   * happen, as with a server, which does not acknowledge what it cannot keep.
   */
  readonly lost?: Promise<string>;

  /** Lets calls under way finish, then frees what the store holds. Calls made later reject. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A page of the list, rendered by the engine. */
export interface BookPage {
  /** The books as JSON objects with commas between them, in UTF-8; empty when there are none. */
  readonly json: Uint8Array;
  /** The id of the page's last book, or undefined when no page follows. */
  readonly last: number | undefined;
}

/** A page of what a query asks for. */
export interface SearchPage {
  /** As in {@link BookPage}. */
  readonly json: Uint8Array;
  /** The number of books in it. */
  readonly count: number;
  /** The place up to which everything has been looked at. */
  readonly last: BookPosition | undefined;
  /** Whether a matching book follows `last`; unknown when the call ran out of time. */
  readonly more: 'no' | 'yes' | 'unknown';
}

/** A number of books that match, up to a place; undefined when they are all of them. */
export interface BookCount {
  readonly count: number;
  readonly last: BookPosition | undefined;
}

/** The store cannot be reached, is full, or cannot take more work at present. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  /** A short code for the log, such as `ECONNREFUSED`, `57P01` or `SQLITE_FULL`; never text of a driver. */
  readonly reason: string;

  constructor(reason: string) {
    super(`the store is unavailable (${reason})`);
    this.reason = reason;
  }
}
