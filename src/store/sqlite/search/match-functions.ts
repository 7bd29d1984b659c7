import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { StoreUnavailable } from '../../../book/book-store-interface.ts';
import { isFoldedMatch, type Needles } from '../../search/folding.ts';

/** The most bytes of books that a statement sorts without the index; beyond it the search is rejected. */
const SORTED_BYTES_MAX = 64 * 1_024 * 1_024;

/** What reading a book costs besides its text, in bytes of text. */
const BOOK_BYTES = 64;

/** A statement would compare more text than its limit allows. */
export class TooMuchText extends Error {
  override readonly name = 'TooMuchText';
  /** How many books it has compared within the limit; at least one. */
  readonly books: number;

  constructor(books: number) {
    super('a statement compares too much text');
    this.books = books;
  }
}

/**
 * The SQL functions that compare and sort for a connection. SQLite cannot interrupt a statement, but a function that
 * throws ends it: so no statement compares more text than its limit allows, or more than one book.
 */
export class MatchFunctions {
  #needles: Needles | undefined;
  #lengthMax = 0;
  #length = 0;
  #books = 0;
  #sortedBytes = 0;
  /** How many books the next statement should compare, by what the last ones did; kept from one search to the next. */
  windowBooks = 100;

  constructor(database: DatabaseSync) {
    // Takes texts of the index; null for those that the query does not compare.
    database.function('is_match', (title, author, words) => {
      this.#add(lengthOf(title) + lengthOf(author) + lengthOf(words));
      const isMatching =
        !this.#needles ||
        isFoldedMatch(this.#needles, String(title ?? ''), String(author ?? ''), String(words ?? ''));
      return Number(isMatching);
    });
    database.function('is_sortable', (bytes) => {
      this.#sortedBytes += Number(bytes) + BOOK_BYTES;
      if (this.#sortedBytes > SORTED_BYTES_MAX) throw new StoreUnavailable('too many books to sort');
      return 1;
    });
  }

  /**
   * Begins a statement.
   *
   * @param lengthMax the most characters of text that it may compare, unless they are those of a single book; otherwise
   *   it throws TooMuchText
   */
  begin(needles: Needles | undefined, lengthMax: number): void {
    this.#needles = needles;
    this.#lengthMax = lengthMax;
    this.#length = 0;
    this.#books = 0;
    this.#sortedBytes = 0;
  }

  /** Whether the last statement has compared less than half of what it may. */
  get isHalfEmpty(): boolean {
    return this.#length < this.#lengthMax / 2;
  }

  #add(length: number): void {
    this.#length += length;
    if (this.#length > this.#lengthMax && this.#books > 0) throw new TooMuchText(this.#books);
    this.#books++;
  }
}

function lengthOf(text: SQLOutputValue): number {
  return typeof text === 'string' ? text.length : 0;
}
