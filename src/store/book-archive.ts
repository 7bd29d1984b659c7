import { hasFields } from '../book/book.ts';
import type { Book, BookFields } from '../book/contract.ts';

/** Bulk access to the books of a store, also while a service uses it. Arguments and rejections are as in BookStore. */
export interface BookArchive extends AsyncDisposable {
  /** A snapshot of all books in ascending order of id, in pages like those of BookStore.list. */
  pages(): AsyncIterable<Uint8Array>;
  /** Stores new books, all or none, under new ids. */
  add(books: readonly BookFields[]): Promise<void>;
  /** Stores books under their own positive ids; later ids are higher. @returns the outcomes in the order of the books */
  addWithIds(books: readonly Book[]): Promise<InsertOutcome[]>;
  /** The books with these ids, in their order; undefined where there is none. */
  find(ids: readonly number[]): Promise<(Book | undefined)[]>;
  /**
   * Changes different books that still equal `before`; the others are left as they are. Only fields that differ are written: a NULL, and
   * a number that no book has, stay in the others.
   *
   * @returns whether each was changed, in the order of the changes
   */
  update(changes: readonly ChangedBook[]): Promise<boolean[]>;
  /** Begins a transaction; disposing of the archive without {@link commit} rolls it back. */
  begin(): Promise<void>;
  commit(): Promise<void>;
}

/** Two versions of a book. */
export interface ChangedBook {
  readonly before: Book;
  readonly after: Book;
}

/** Whether a book was stored under its id; if not, whether the book that has the id is identical. */
export type InsertOutcome = 'stored' | 'present' | 'taken';

/** The outcome for a book whose id `other` has. */
export function conflictOutcome(other: Book, book: Book): InsertOutcome {
  return hasFields(other, book) ? 'present' : 'taken';
}
