import { ID_MAX, YEAR_MAX } from '../../book/book.ts';
import { type BookPosition, SORT_KEY_LENGTH } from '../../book/book-store-interface.ts';

/** The version of the order of texts: cursors of another one are invalid. */
const TEXT_ORDER = 2;

/** The opaque value of `after`: URL-safe, at most 2,100 characters, and valid even after the book is changed or deleted. */
export function writeCursor(sort: string, { key, id }: BookPosition): string {
  const fields = [sort, id, key, ...(typeof key === 'string' ? [TEXT_ORDER] : [])];
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
}

/** Reads what {@link writeCursor} wrote. @returns undefined when it is malformed or of another sort */
export function readCursor(text: string, sort: string): BookPosition | undefined {
  let fields: unknown;
  try {
    fields = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(fields)) return undefined;
  const [, id, key] = fields as unknown[];
  if (!isIntegerUpTo(id, ID_MAX) || !isKey(key, id, sort)) return undefined;
  return writeCursor(sort, { key, id }) === text ? { key, id } : undefined;
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
