import type { BookPosition, SortKey } from './book-search.ts';

// The books of each order are counted in blocks, so that a book in the middle of millions is found without reading those before it. A
// block begins at a position, and has the books up to the next block.

/** The books of a block when it is built. */
export const BLOCK_BOOKS = 1_000;
/** A block with more books is split. */
export const BLOCK_BOOKS_MAX = 2 * BLOCK_BOOKS;

const FIRST_NUMBER = -Number.MAX_SAFE_INTEGER;

/** Where the first block of an order begins: before all books. */
export const FIRST_POSITIONS = {
  id: { key: FIRST_NUMBER, id: FIRST_NUMBER },
  title: { key: '', id: FIRST_NUMBER },
  author: { key: '', id: FIRST_NUMBER },
  year: { key: FIRST_NUMBER, id: FIRST_NUMBER },
} as const satisfies Record<SortKey, BookPosition>;

export interface Block extends BookPosition {
  readonly books: number;
}

/** The keys of a book, by the columns of the index. */
export type BookKeys = Readonly<Record<string, string | number>>;
