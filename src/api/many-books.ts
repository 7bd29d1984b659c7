import { setImmediate as nextTurn } from 'node:timers/promises';
import { readBook } from '../book/book.ts';
import { ArrayScanner } from '../formats/json-array.ts';

/** The number of books in one request. */
export const BOOKS_MAX = 10_000;

/** After so many bytes other requests get a turn: a long body delays them by a few milliseconds at a time. */
const TURN_BYTES = 256 * 1_024;

const utf8 = new TextEncoder();

/** An array of books as JSON, or the place of its first error. */
export type BooksRead =
  | { readonly json: readonly Uint8Array[] }
  /** The index of the first invalid or surplus element; undefined when the body is no array. */
  | { readonly invalidIndex: number | undefined };

/**
 * Reads a request body as an array of new books, each like {@link readBook}, in several turns of the event loop.
 *
 * @param bookBytesMax the length of each book
 * @returns JSON arrays in UTF-8 of at most {@link BOOKS_MAX} objects together, which have all fields in order; each
 *   array ends after about {@link TURN_BYTES}
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
    await nextTurn();
  }
  if (scanner.error) return { invalidIndex: scanner.error === 'no-array' ? undefined : count };
  if (books.length > 0) arrays.push(utf8.encode(`[${books.join(',')}]`));
  return { json: arrays };
}
