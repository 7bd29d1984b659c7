import { setImmediate as nextTurn } from 'node:timers/promises';
import { type BookUpdate, readBook, readBookUpdate } from '../book/book.ts';
import { strongTags } from '../http/preconditions.ts';
import { ArrayScanner } from '../json/array-scanner.ts';
import { Invalid } from '../json/invalid.ts';

/** The number of books in one request. */
export const BOOKS_MAX = 10_000;

/** The bytes that are read in a turn of the event loop: a long body delays other requests by a few milliseconds. */
const TURN_BYTES = 256 * 1_024;

const utf8 = new TextEncoder();

/** JSON arrays of books or updates; or the index of the first invalid or surplus element, undefined when the body is no array. */
export type BooksRead = { readonly json: readonly Uint8Array[] } | InvalidBooks;

export interface InvalidBooks {
  readonly invalidIndex: number | undefined;
  readonly detail: string;
}

export const NO_ARRAY: InvalidBooks = {
  invalidIndex: undefined,
  detail: 'empty, compressed or not a JSON array',
};

/** Reads the body of `POST /books`: new books, each like {@link readBook}. */
export function readBooks(body: Uint8Array): Promise<BooksRead> {
  return readElements(body, readBook);
}

/** Reads the body of `PATCH /books`: updates, each like {@link readBookUpdate}, of different books. */
export function readUpdates(body: Uint8Array): Promise<BooksRead> {
  const ids = new Set<number>();
  return readElements(body, (element): BookUpdate | Invalid => {
    const update = readBookUpdate(element, strongTags);
    if (update instanceof Invalid) return update;
    if (ids.has(update.id)) return new Invalid(`the id ${update.id} a second time`);
    ids.add(update.id);
    return update;
  });
}

/**
 * Reads an array in several turns of the event loop. Returns JSON arrays of about {@link TURN_BYTES} of what `read` returns.
 */
async function readElements(body: Uint8Array, read: (element: Uint8Array) => object): Promise<BooksRead> {
  const arrays: Uint8Array[] = [];
  let elements: string[] = [];
  let count = 0;
  let bytesOfTurn = 0;
  const scanner = new ArrayScanner();
  for (let json = scanner.next(body, true); json; json = scanner.next(body, true)) {
    if (count === BOOKS_MAX) return { invalidIndex: count, detail: `more than ${BOOKS_MAX} books` };
    const element = read(json);
    if (element instanceof Invalid) return { invalidIndex: count, detail: element.detail };
    count++;
    elements.push(JSON.stringify(element));
    bytesOfTurn += json.length;
    if (bytesOfTurn < TURN_BYTES) continue;
    bytesOfTurn = 0;
    arrays.push(utf8.encode(`[${elements.join(',')}]`));
    elements = [];
    await nextTurn();
  }
  if (scanner.error === 'no-array') return NO_ARRAY;
  if (scanner.error) return { invalidIndex: count, detail: 'the array is not valid JSON from this book on' };
  if (elements.length > 0) arrays.push(utf8.encode(`[${elements.join(',')}]`));
  return { json: arrays };
}
