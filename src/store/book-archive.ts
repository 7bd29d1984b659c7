import type { Book, BookFields } from '../book/book.ts';

/**
 * The books of a store for the command line, which moves many of them at once, past the service and beside it.
 *
 * Every method rejects with StoreUnavailable when the store cannot be reached or cannot take the call; any other
 * rejection is a defect. Arguments are taken as valid, as with BookStore.
 */
export interface BookArchive extends AsyncDisposable {
  /**
   * All books as of one moment, in ascending order of id: JSON objects with commas between them, in UTF-8, page by page.
   * The moment is kept until the last page or the end of the loop.
   */
  pages(): AsyncIterable<Uint8Array>;

  /** Stores new books, all or none, and gives them ids. */
  add(books: readonly BookFields[]): Promise<void>;

  /**
   * Stores books under ids of their own, from 1 on, and never over another book. No id up to the highest of them is given
   * out any more.
   *
   * @returns what became of each, in their order
   */
  addWithIds(books: readonly Book[]): Promise<InsertOutcome[]>;

  /** From now on nothing is stored before {@link commit}; ending without it leaves the store as it was. */
  begin(): Promise<void>;

  /** Stores all that was added since {@link begin}. */
  commit(): Promise<void>;
}

/** What became of a book with an id: it was stored, the very same was there before, or another book has the id. */
export type InsertOutcome = 'stored' | 'present' | 'taken';

/** What became of a book that was not stored, as this one has its id. */
export function conflictOutcome(other: Book | undefined, { title, author, year }: Book): InsertOutcome {
  return other?.title === title && other.author === author && other.year === year ? 'present' : 'taken';
}
