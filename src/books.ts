import { setImmediate as endOfTurn } from 'node:timers/promises';
import { readBook } from './book.ts';
import { elementsOf, startsArray } from './json-array.ts';

/** The most books that are created in one request. */
export const BOOKS_MAX = 10_000;

/** After so many bytes others get their turn: what they wait for a long body is some milliseconds at a time. */
const TURN_BYTES = 256 * 1_024;

/** What an array of books is read as: the books as JSON, or why there are none. */
export type BooksRead =
  | { readonly json: string }
  /** The index of the first element that is no book; undefined where it is no array at all. */
  | { readonly invalidIndex: number | undefined };

/**
 * Reads a request body as an array of new books, each as {@link readBook} does, in several turns of the event loop.
 *
 * @param bookBytesMax the most bytes of one of them
 * @returns a JSON array of objects with all three fields in their order; not more than {@link BOOKS_MAX} of them
 */
export async function readBooks(body: Uint8Array, bookBytesMax: number): Promise<BooksRead> {
  const books: string[] = [];
  let bytesOfTurn = 0;
  for (const element of elementsOf(body)) {
    const isShort = element !== undefined && element.length <= bookBytesMax && books.length < BOOKS_MAX;
    const book = isShort ? readBook(element) : undefined;
    if (!element || !book) return { invalidIndex: startsArray(body) ? books.length : undefined };
    books.push(JSON.stringify(book));
    bytesOfTurn += element.length;
    if (bytesOfTurn < TURN_BYTES) continue;
    bytesOfTurn = 0;
    await endOfTurn();
  }
  return { json: `[${books.join(',')}]` };
}
