import { setImmediate as nextTurn } from 'node:timers/promises';
import { ID_MAX, readBook, YEAR_MAX } from '../book/book.ts';
import { UPDATED_BYTES_MAX } from '../book/book-store.ts';
import { readBookUpdate, type UpdateItem } from '../book/book-update.ts';
import { type Book, EMPTY_BOOK, TEXT_LENGTH_MAX, TEXT_NAMES } from '../book/contract.ts';
import { BODY_BYTES_MAX, formatBytes } from '../http/body-limits.ts';
import { strongTags } from '../http/preconditions.ts';
import { Rejection } from '../http/rejection.ts';
import { ArrayScanner } from '../json/array-scanner.ts';
import { Invalid } from '../json/invalid.ts';

/** The number of books in one request. */
export const BOOKS_MAX = 10_000;

/** The bytes that are read in a turn of the event loop: a long body delays other requests by a few milliseconds. */
const TURN_BYTES = 64 * 1_024;
/** The length of the arrays that the store gets. */
const ARRAY_BYTES = 256 * 1_024;

/** The longest book of a request as JSON, in which a control character has six bytes. */
const LONGEST_BOOK_BYTES =
  TEXT_NAMES.reduce((bytes, name) => bytes + 6 * TEXT_LENGTH_MAX[name], 0) +
  JSON.stringify({ id: ID_MAX, ...EMPTY_BOOK, year: -YEAR_MAX } satisfies Book).length;

const encoder = new TextEncoder();

/** JSON arrays of books or updates, and the number of them. */
export interface BooksRead {
  readonly json: readonly Uint8Array[];
  readonly count: number;
}

const NO_ARRAY = new Rejection('invalidInput', { detail: 'empty, compressed or not a JSON array' });

/** The memory for a response with so many stored books. Only books that other programs have stored may need more. */
export function bytesOfBooks(count: number): number {
  return Math.min(count * LONGEST_BOOK_BYTES, UPDATED_BYTES_MAX);
}

/** Reads the body of `POST /books`: new books, each like {@link readBook}. */
export function readBooks(body: Uint8Array): Promise<BooksRead | Rejection> {
  return readObjects(body, readBook);
}

/** Reads the body of `PATCH /books`: updates, each like {@link readBookUpdate}, of different books. */
export function readUpdates(body: Uint8Array): Promise<BooksRead | Rejection> {
  const ids = new Set<number>();
  return readObjects(body, (element): UpdateItem | Invalid => {
    const update = readBookUpdate(element, strongTags);
    if (update instanceof Invalid) return update;
    if (ids.has(update.id)) return new Invalid(`the id ${update.id} a second time`);
    ids.add(update.id);
    return update;
  });
}

/** Returns JSON arrays of about {@link ARRAY_BYTES} of what `read` returns. */
async function readObjects(
  body: Uint8Array,
  read: (element: Uint8Array) => object,
): Promise<BooksRead | Rejection> {
  const json: Uint8Array[] = [];
  let objects: string[] = [];
  let bytes = 0;
  let count = 0;
  const flush = () => {
    if (objects.length > 0) json.push(encoder.encode(`[${objects.join(',')}]`));
    objects = [];
    bytes = 0;
  };
  const rejection = await readElements(body, (element) => {
    const object = read(element);
    if (object instanceof Invalid) return object;
    objects.push(JSON.stringify(object));
    count++;
    bytes += element.length;
    if (bytes >= ARRAY_BYTES) flush();
    return undefined;
  });
  flush();
  return rejection ?? { json, count };
}

/**
 * Reads an array of up to {@link BOOKS_MAX} elements, each at most as long as the body of one book, in turns of the event loop.
 *
 * @param read returns why an element is invalid, if it is
 * @returns undefined when no element is
 */
export async function readElements(
  body: Uint8Array,
  read: (element: Uint8Array) => Invalid | undefined,
): Promise<Rejection | undefined> {
  const scanner = new ArrayScanner();
  let count = 0;
  for (let end = TURN_BYTES; ; end += TURN_BYTES) {
    const bytes = body.subarray(0, end);
    const isLast = end >= body.length;
    for (let json = scanner.next(bytes, isLast); json; json = scanner.next(bytes, isLast)) {
      if (count === BOOKS_MAX) return invalidElement(count, `more than ${BOOKS_MAX} books`);
      const invalid = json.length > BODY_BYTES_MAX ? TOO_LONG : read(json);
      if (invalid) return invalidElement(count, invalid.detail);
      count++;
    }
    if (scanner.error === 'no-array') return NO_ARRAY;
    if (scanner.error) return invalidElement(count, 'the array is not valid JSON from this book on');
    if (isLast) return undefined;
    // The rest is an element whose end is not found yet.
    if (end - scanner.at > BODY_BYTES_MAX) return invalidElement(count, TOO_LONG.detail);
    await nextTurn();
  }
}

function invalidElement(index: number, detail: string): Rejection {
  return new Rejection('invalidInput', { detail, headers: invalidIndex(index) });
}

/** The header that names the first element at fault of a body with many. */
export function invalidIndex(index: number): Readonly<Record<string, string>> {
  return { 'invalid-index': `${index}` };
}

const TOO_LONG = new Invalid(`longer than ${formatBytes(BODY_BYTES_MAX)}`);
