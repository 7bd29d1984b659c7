import type { Book, BookFields } from '../book/book.ts';

/**
 * Bulk access to the books of a store, for the command line; a service may use the store at the same time. Arguments and
 * rejections are as in BookStore.
 */
export interface BookArchive extends AsyncDisposable {
  /** A snapshot of all books in ascending order of id, in pages like those of BookStore.list. */
  pages(): AsyncIterable<Uint8Array>;

  /** Stores new books, all or none, under new ids. */
  add(books: readonly BookFields[]): Promise<void>;

  /**
   * Stores books under their own ids, from 1 on, without overwriting any book. Ids up to the highest of them are not
   * assigned afterwards. @returns the outcomes in the order of the books
   */
  addWithIds(books: readonly Book[]): Promise<InsertOutcome[]>;

  /** Begins a transaction; disposing of the archive without {@link commit} rolls it back. */
  begin(): Promise<void>;

  commit(): Promise<void>;
}

/** The outcome of storing a book with an id: stored, identical book already present, or id taken by another book. */
export type InsertOutcome = 'stored' | 'present' | 'taken';

/** The outcome for a book whose id `other` has. */
export function conflictOutcome(other: Book | undefined, { title, author, year }: Book): InsertOutcome {
  return other?.title === title && other.author === author && other.year === year ? 'present' : 'taken';
}
