import { setImmediate as nextTurn } from 'node:timers/promises';
import { readBook } from '../book/book.ts';
import { Invalid } from '../book/invalid.ts';
import { ArrayScanner } from '../formats/json-array.ts';

/** The number of books in one request. */
export const BOOKS_MAX = 10_000;

/** The bytes that are read in a turn of the event loop: a long body delays other requests by a few milliseconds. */
const TURN_BYTES = 256 * 1_024;

const utf8 = new TextEncoder();

const BOOK_TOO_LONG = new Invalid('a book is too long');

/** JSON arrays of books; or the index of the first invalid or surplus element, undefined when the body is not an array. */
export type BooksRead =
  | { readonly json: readonly Uint8Array[] }
  | { readonly invalidIndex: number | undefined; readonly detail: string };

/**
 * Reads an array of new books, each like {@link readBook}, in several turns of the event loop. Returns JSON arrays of
 * about {@link TURN_BYTES}, whose objects have all fields in order.
 */
export async function readBooks(body: Uint8Array, bookBytesMax: number): Promise<BooksRead> {
  const arrays: Uint8Array[] = [];
  let books: string[] = [];
  let count = 0;
  let bytesOfTurn = 0;
  const scanner = new ArrayScanner();
  for (let element = scanner.next(body, true); element; element = scanner.next(body, true)) {
    if (count === BOOKS_MAX) return { invalidIndex: count, detail: `more than ${BOOKS_MAX} books` };
    const book = element.length <= bookBytesMax ? readBook(element) : BOOK_TOO_LONG;
    if (book instanceof Invalid) return { invalidIndex: count, detail: book.detail };
    count++;
    books.push(JSON.stringify(book));
    bytesOfTurn += element.length;
    if (bytesOfTurn < TURN_BYTES) continue;
    bytesOfTurn = 0;
    arrays.push(utf8.encode(`[${books.join(',')}]`));
    books = [];
    await nextTurn();
  }
  if (scanner.error === 'no-array')
    return { invalidIndex: undefined, detail: 'empty, compressed or not a JSON array' };
  if (scanner.error) return { invalidIndex: count, detail: 'the array is not valid JSON from this book on' };
  if (books.length > 0) arrays.push(utf8.encode(`[${books.join(',')}]`));
  return { json: arrays };
}
