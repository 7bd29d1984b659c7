import { createHash, hash } from 'node:crypto';
import type { BookFields } from '../book/book.ts';

/** Older keys are ignored at once, and deleted at intervals. */
export const KEY_LIFETIME_SECONDS = 24 * 60 * 60;

/** A digest that is equal for equal fields, so that the book itself need not be kept. */
export function fingerprintOf({ title, author, year }: BookFields): string {
  return hash('sha256', JSON.stringify([title, author, year]), 'base64url');
}

/** A digest that is equal for equal books, however they are divided into arrays, and that no single book has. */
export function fingerprintOfMany(arrays: readonly Uint8Array[]): string {
  const digest = createHash('sha256').update('[');
  for (const array of arrays) {
    if (array.length > 2) digest.update(array.subarray(1, -1)).update(',');
  }
  return digest.digest('base64url');
}

/** Its results have memory of their own, which can be transferred. */
const utf8 = new TextEncoder();

/** Renders an array of books as they were created. @param ids those of the books, from which it takes as many */
export function renderCreated(array: Uint8Array, ids: Iterator<number>): Uint8Array {
  const books = JSON.parse(Buffer.from(array).toString()) as BookFields[];
  return utf8.encode(books.map((fields) => JSON.stringify({ id: ids.next().value, ...fields })).join(','));
}

/** The ids from one to another. */
export function* idsFrom(first: number, last = Number.MAX_SAFE_INTEGER): Generator<number> {
  for (let id = first; id <= last; id++) yield id;
}
