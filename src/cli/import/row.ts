import { isUtf8 } from 'node:buffer';
import { type Book, EMPTY_BOOK, ID_MAX, YEAR_MAX } from '../../book.ts';
import { readJsonObject } from '../../json.ts';
import type { Columns, Field } from './columns.ts';

/** The most bytes of one row: a service takes books of up to 1 MiB, and rows may have columns that nobody asks for. */
export const ROW_BYTES_MAX = 8 * 1_024 * 1_024;

/** A row of a file: a book, or what is wrong with it. */
export type Row = {
  /** The line where it begins, from 1 on. */
  readonly line: number;
} & ({ readonly book: Book } | { readonly fault: string });

export const TOO_LONG = 'it is longer than 8 MiB';

/** The id of a book that has none yet. */
export const NO_ID = 0;

const TYPES = { id: 'integer', title: 'text', author: 'text', year: 'integer' } as const;

const MEANINGS: Readonly<Record<Field, string>> = {
  id: `a whole number from 1 to ${ID_MAX}`,
  title: 'a text of well-formed Unicode without U+0000',
  author: 'a text of well-formed Unicode without U+0000',
  year: `a whole number within ±${YEAR_MAX}`,
};

/** What is said of a field that is not what it must be. */
export function faultOf(field: Field, column: string): string {
  return `${column} is not ${MEANINGS[field]}`;
}

/** Whether a book can have this id. */
export function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

/** Reads rows that are JSON objects, each by the rules that the service has for a book. */
export function jsonRowReader(columns: Columns): (bytes: Uint8Array, line: number) => Row {
  const spec: Record<string, 'text' | 'integer'> = {};
  for (const [field, column] of columns) spec[column] = TYPES[field];
  const names = {
    id: columns.get('id'),
    title: columns.get('title'),
    author: columns.get('author'),
    year: columns.get('year'),
  };

  return (bytes, line) => {
    const values = readJsonObject(bytes, spec);
    if (!values) return { line, fault: faultOfObject(bytes, columns) };
    const read = (name = '') => (name === '' ? undefined : values[name]);
    const id = names.id === undefined ? NO_ID : read(names.id);
    if (names.id !== undefined && !isId(id)) return { line, fault: faultOf('id', names.id) };
    const book = {
      id: id as number,
      title: (read(names.title) as string | undefined) ?? EMPTY_BOOK.title,
      author: (read(names.author) as string | undefined) ?? EMPTY_BOOK.author,
      year: (read(names.year) as number | undefined) ?? EMPTY_BOOK.year,
    };
    return { line, book };
  };
}

/** What is wrong with bytes that are no object with these columns. */
function faultOfObject(bytes: Uint8Array, columns: Columns): string {
  if (!isUtf8(bytes)) return 'it is not UTF-8';
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return 'it is not JSON';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is not a JSON object';
  for (const [field, column] of columns) {
    if (!readJsonObject(bytes, { [column]: TYPES[field] })) return faultOf(field, column);
  }
  return 'it is not a book';
}
