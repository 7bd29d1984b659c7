import { ID_MAX, YEAR_MAX } from '../book/book.ts';
import { foldText, GAP } from '../book/folded-text.ts';
import { parseJson } from '../json/parse-json.ts';
import { type BookPosition, SORT_KEY_LENGTH } from './book-search.ts';

/** The version of the orders: cursors of another one are invalid. */
const ORDERS = 4;

/** The opaque value of `after`: URL-safe, at most 2,100 characters, and valid even after the book is changed or deleted. */
export function writeCursor(sort: string, { key, id }: BookPosition): string {
  return Buffer.from(JSON.stringify([sort, id, key, ORDERS])).toString('base64url');
}

/** Reads what {@link writeCursor} wrote. @returns undefined when it is malformed or of another sort */
export function readCursor(text: string, sort: string): BookPosition | undefined {
  const json = parseJson(Buffer.from(text, 'base64url'));
  if (typeof json === 'string' || !Array.isArray(json.value)) return undefined;
  const [, id, key] = json.value as unknown[];
  if (!isIntegerUpTo(id, ID_MAX) || !isKey(key, id, sort)) return undefined;
  return writeCursor(sort, { key, id }) === text ? { key, id } : undefined;
}

/**
 * The position before the first book, in this order, whose key is not before the value of `from`.
 *
 * @returns undefined when a sort by number gets something else
 */
export function readFrom(text: string, sort: string): BookPosition | undefined {
  const isDescending = sort.startsWith('-');
  const id = isDescending ? ID_MAX + 1 : -ID_MAX - 1;
  if (sort.endsWith('title') || sort.endsWith('author')) {
    const [words = ''] = SORT_KEY_START.exec(foldText(text).trim().replaceAll(GAP, ' ')) ?? [];
    return { key: isDescending ? words + LAST_TEXT : words, id };
  }
  const key = /^-?[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  if (!isIntegerUpTo(key, YEAR_MAX)) return undefined;
  if (sort.endsWith('year')) return { key, id };
  return { key, id: isDescending ? key + 1 : key - 1 };
}

/** Not before any text of a key. */
const LAST_TEXT = '\u{10FFFF}'.repeat(SORT_KEY_LENGTH);

function isKey(key: unknown, id: number, sort: string): key is BookPosition['key'] {
  if (sort === 'id' || sort === '-id') return key === id;
  if (sort === 'year' || sort === '-year') return isIntegerUpTo(key, YEAR_MAX);
  if (sort === 'twins') return isIntegerUpTo(key, Number.MAX_SAFE_INTEGER);
  return typeof key === 'string' && SORT_KEY.test(key) && key.isWellFormed() && !key.includes('\0');
}

const SORT_KEY_START = new RegExp(`^.{0,${SORT_KEY_LENGTH}}`, 'su');
const SORT_KEY = new RegExp(`${SORT_KEY_START.source}$`, 'su');

function isIntegerUpTo(value: unknown, max: number): value is number {
  return Number.isSafeInteger(value) && Math.abs(value as number) <= max;
}
