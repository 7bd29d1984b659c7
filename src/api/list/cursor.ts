import { ID_MAX, YEAR_MAX } from '../../book/book.ts';
import { type BookPosition, SORT_KEY_LENGTH } from '../../book/book-store-interface.ts';

/** The opaque value of `after`: URL-safe, at most 2,100 characters, and valid even after the book is changed or deleted. */
export function writeCursor(sort: string, { key, id }: BookPosition): string {
  return encode([sort, id, key]);
}

/** Reads what {@link writeCursor} wrote. @returns undefined when it is malformed or of another sort */
export function readCursor(text: string, sort: string): BookPosition | undefined {
  let fields: unknown;
  try {
    fields = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(fields) || encode(fields) !== text || fields[0] !== sort || fields.length !== 3)
    return undefined;
  const [, id, key] = fields as unknown[];
  return isIntegerUpTo(id, ID_MAX) && isKey(key, id, sort) ? { key, id } : undefined;
}

function encode(fields: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
}

function isKey(key: unknown, id: number, sort: string): key is BookPosition['key'] {
  if (sort === 'id' || sort === '-id') return key === id;
  if (sort === 'year' || sort === '-year') return isIntegerUpTo(key, YEAR_MAX);
  return typeof key === 'string' && SORT_KEY.test(key) && key.isWellFormed() && !key.includes('\0');
}

const SORT_KEY = new RegExp(`^.{0,${SORT_KEY_LENGTH}}$`, 'su');

function isIntegerUpTo(value: unknown, max: number): value is number {
  return Number.isSafeInteger(value) && Math.abs(value as number) <= max;
}
