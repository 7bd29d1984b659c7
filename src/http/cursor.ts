import { hash } from 'node:crypto';
import { type Book, type BookPosition, ID_MAX, YEAR_MAX } from '../book.ts';

/** A place in a sorted list as a cursor keeps it. */
export interface Cursor {
  readonly id: number;
  /** The beginning of the sort key, or all of it. */
  readonly key: string | number;
  /** Tells the whole key from others where `key` is only its beginning. */
  readonly digest: string | undefined;
}

/** The most code points of a key in a cursor, so that it stays short whatever the title. */
const KEY_LENGTH_MAX = 64;
const BEGINNING = new RegExp(`^.{0,${KEY_LENGTH_MAX}}`, 'su');

/** Writes a place in a sorted list as the opaque value of `after`: some hundred characters at most, safe in a URL. */
export function writeCursor(sort: string, { key, id }: BookPosition): string {
  const beginning = typeof key === 'string' ? beginningOf(key) : key;
  const fields = beginning === key ? [sort, id, key] : [sort, id, beginning, digestOf(`${key}`)];
  return encode(fields);
}

/** Reads what {@link writeCursor} wrote. @returns undefined when it did not, or for another sort */
export function readCursor(text: string, sort: string): Cursor | undefined {
  let fields: unknown;
  try {
    fields = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(fields) || encode(fields) !== text || fields[0] !== sort) return undefined;
  const [, id, key, digest] = fields as unknown[];
  if (!isWhole(id, ID_MAX)) return undefined;
  if (sort === 'id' || sort === '-id')
    return fields.length === 3 && key === id ? { id, key, digest: undefined } : undefined;
  if (sort === 'year' || sort === '-year')
    return fields.length === 3 && isWhole(key, YEAR_MAX) ? { id, key, digest: undefined } : undefined;
  if (typeof key !== 'string' || beginningOf(key) !== key || !key.isWellFormed() || key.includes('\0'))
    return undefined;
  if (fields.length === 3) return { id, key, digest: undefined };
  return fields.length === 4 && typeof digest === 'string' ? { id, key, digest } : undefined;
}

/**
 * The place that a cursor stands for. Where it has only the beginning of a long key, the rest is that of its book;
 * when that one was deleted or changed meanwhile, the place is in front of all books with this beginning: some of them
 * come again, but none is left out.
 *
 * @param find looks for the book of an id
 */
export async function positionOf(
  { id, key, digest }: Cursor,
  sort: string,
  find: (id: number) => Promise<Book | undefined>,
): Promise<BookPosition> {
  if (digest === undefined) return { key, id };
  const book = await find(id);
  const whole = sort.endsWith('title') ? book?.title : book?.author;
  if (whole?.startsWith(`${key}`) && digestOf(whole) === digest) return { key: whole, id };
  return sort.startsWith('-') ? { key: `${key}${LAST_CHARACTER}`, id: ID_MAX } : { key, id: ID_MAX };
}

/** No text has this character, which is set apart (Unicode, section 23.7), so what begins alike sorts before it. */
const LAST_CHARACTER = '\u{10FFFF}';

function encode(fields: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
}

function beginningOf(key: string): string {
  return BEGINNING.exec(key)?.[0] ?? '';
}

function digestOf(key: string): string {
  return hash('sha256', key, 'base64url').slice(0, 11);
}

function isWhole(value: unknown, max: number): value is number {
  return Number.isSafeInteger(value) && Math.abs(value as number) <= max;
}
