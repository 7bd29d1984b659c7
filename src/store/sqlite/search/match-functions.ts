import type { DatabaseSync } from 'node:sqlite';
import { StoreUnavailable } from '../../../book/book-store-interface.ts';
import { isFoldedMatch, type Needles } from '../../search/folding.ts';

/** The most bytes of books that a statement sorts without the index; a search that needs more is rejected. */
const SORTED_BYTES_MAX = 64 * 1_024 * 1_024;

const BOOK_OVERHEAD_BYTES = 64;

export class TooMuchText extends Error {
  /** The number of books compared within the limit, at least one. */
  readonly books: number;

  constructor(books: number) {
    super('a statement compares too much text');
    this.books = books;
  }
}

/** SQL functions that limit the work of a statement, which SQLite cannot interrupt: a function that throws ends it. */
export class MatchFunctions {
  #needles: Needles | undefined;
  #lengthMax = 0;
  #length = 0;
  #books = 0;
  #sortedBytes = 0;
  /** The number of books that the next statement should compare, adapted by each statement. */
  windowBooks = 100;

  constructor(database: DatabaseSync) {
    // The texts are folded; those that the query does not compare are null.
    database.function('is_match', (title, author, words) =>
      this.#isMatch(String(title ?? ''), String(author ?? ''), String(words ?? '')),
    );
    database.function('is_sortable', (bytes) => {
      this.#sortedBytes += Number(bytes) + BOOK_OVERHEAD_BYTES;
      if (this.#sortedBytes > SORTED_BYTES_MAX) throw new StoreUnavailable('too many books to sort');
      return 1;
    });
  }

  /** Resets the counters. @param lengthMax a statement that compares more text, of several books, throws TooMuchText */
  begin(needles: Needles | undefined, lengthMax: number): void {
    this.#needles = needles;
    this.#lengthMax = lengthMax;
    this.#length = 0;
    this.#books = 0;
    this.#sortedBytes = 0;
  }

  get isHalfEmpty(): boolean {
    return this.#length < this.#lengthMax / 2;
  }

  #isMatch(title: string, author: string, words: string): number {
    this.#length += title.length + author.length + words.length;
    if (this.#length > this.#lengthMax && this.#books > 0) throw new TooMuchText(this.#books);
    this.#books++;
    return Number(!this.#needles || isFoldedMatch(this.#needles, title, author, words));
  }
}
