import { setImmediate as endOfTurn } from 'node:timers/promises';
import { readBook } from '../book/book.ts';
import { ArrayScanner } from '../formats/json-array.ts';

/** The most books that are created in one request. */
export const BOOKS_MAX = 10_000;

/** After so many bytes others get their turn: what they wait for a long body is some milliseconds at a time. */
const TURN_BYTES = 256 * 1_024;

const utf8 = new TextEncoder();

/** What an array of books is read as: the books as JSON, or why there are none. */
export type BooksRead =
  | { readonly json: readonly Uint8Array[] }
  /** The index of the first element that is no book, or that is missing; undefined where it is no array at all. */
  | { readonly invalidIndex: number | undefined };

/**
 * Reads a request body as an array of new books, each as {@link readBook} does, in several turns of the event loop.
 *
 * @param bookBytesMax the most bytes of one of them
 * @returns JSON arrays, in UTF-8, of objects with all three fields in their order; not more than {@link BOOKS_MAX} of them. An array
 *   ends when the text that was read into it is longer than {@link TURN_BYTES}.
 */
export async function readBooks(body: Uint8Array, bookBytesMax: number): Promise<BooksRead> {
  const arrays: Uint8Array[] = [];
  let books: string[] = [];
  let count = 0;
  let bytesOfTurn = 0;
  const scanner = new ArrayScanner();
  for (let element = scanner.next(body, true); element; element = scanner.next(body, true)) {
    const isShort = element.length <= bookBytesMax && count < BOOKS_MAX;
    const book = isShort ? readBook(element) : undefined;
    if (!book) return { invalidIndex: count };
    count++;
    books.push(JSON.stringify(book));
    bytesOfTurn += element.length;
    if (bytesOfTurn < TURN_BYTES) continue;
    bytesOfTurn = 0;
    arrays.push(utf8.encode(`[${books.join(',')}]`));
    books = [];
    await endOfTurn();
  }
  if (scanner.fault) return { invalidIndex: scanner.fault === 'no-array' ? undefined : count };
  if (books.length > 0) arrays.push(utf8.encode(`[${books.join(',')}]`));
  return { json: arrays };
}
