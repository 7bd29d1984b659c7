import type { BookFields } from '../../../src/client/index.ts';
import { withoutMark } from './csv-text.ts';
import { FIELDS, type Field, type Mapping } from './mapping.ts';
import type { BrokenRow, ReadingFault, Row } from './row.ts';

/**
 * Why a row is no book:
 *
 * - `not-text`: a title or an author that is a number, null or the like; `not-number`: such a year;
 * - `not-whole`: a year with a fraction, or in words; `too-large`: one beyond ±9007199254740991;
 * - `null-character`, `lone-surrogate`: a text that no store can give back as it was;
 * - `too-long`: more than the service takes in one book;
 * - `nothing`: there is nothing in any of the columns. The service would take that, but nobody means it.
 */
export type BookFault =
  | { readonly kind: 'not-text' | 'null-character' | 'lone-surrogate'; readonly field: Field }
  | { readonly kind: 'not-number' | 'not-whole' | 'too-large'; readonly value: string }
  | { readonly kind: 'too-long' | 'nothing' };

/** Why a row cannot be imported. */
export type Fault = ReadingFault | BookFault;

/**
 * Makes a book of a row, by the rules of the service ("What counts as a book" in its README). Cells of CSV are texts, so a
 * year is read from its text there, `1999.0` as well, and one that is empty is 0.
 */
export function readBookRow(row: Row | BrokenRow, mapping: Mapping, isCsv: boolean): BookFields | Fault {
  if ('fault' in row) return row.fault;
  const [title, author, year] = FIELDS.map((field) => {
    const cell = cellOf(row, mapping[field]);
    return isCsv && typeof cell === 'string' ? withoutMark(cell) : cell;
  });
  const fault =
    textFault('title', title) ??
    textFault('author', author) ??
    (isCsv ? yearTextFault(year) : yearFault(year));
  if (fault) return fault;
  if (!title && !author && (year === undefined || year === '')) return { kind: 'nothing' };
  const book = {
    title: (title ?? '') as string,
    author: (author ?? '') as string,
    // Without a negative zero, which JSON knows and books do not.
    year: Number(year ?? 0) + 0,
  };
  return isTooLong(book) ? { kind: 'too-long' } : book;
}

export function isFault(result: BookFields | Fault): result is Fault {
  return 'kind' in result;
}

/** What a row has in a column. The service takes names of fields in any case, so objects may have them in any. */
export function cellOf({ columns, cells }: Row, column: string | undefined): unknown {
  if (column === undefined) return undefined;
  const index = columns.lastIndexOf(column);
  if (index !== -1) return cells[index];
  const folded = column.toLowerCase();
  return cells[columns.findLastIndex((name) => name.toLowerCase() === folded)];
}

function textFault(field: Field, text: unknown): BookFault | undefined {
  if (text === undefined) return undefined;
  if (typeof text !== 'string') return { kind: 'not-text', field };
  if (text.includes('\0')) return { kind: 'null-character', field };
  return text.isWellFormed() ? undefined : { kind: 'lone-surrogate', field };
}

/** A number as it may stand in a file, or nothing. `Number` reads it, spaces around it as well. */
const NUMBER = /^\s*(?:-?\d+(?:\.\d*)?(?:e[+-]?\d+)?)?\s*$/i;

function yearTextFault(cell: unknown): BookFault | undefined {
  const text = typeof cell === 'string' ? cell : '';
  return NUMBER.test(text) ? yearFault(Number(text), text) : { kind: 'not-whole', value: shown(text) };
}

function yearFault(year: unknown, cell = year): BookFault | undefined {
  if (year === undefined) return undefined;
  const value = shown(cell);
  if (typeof year !== 'number') return { kind: 'not-number', value };
  if (Math.abs(year) > Number.MAX_SAFE_INTEGER) return { kind: 'too-large', value };
  return Number.isInteger(year) ? undefined : { kind: 'not-whole', value };
}

/** The most of a value that is quoted to people. */
const SHOWN_LENGTH_MAX = 60;

/** A cell as people see it: texts as they are, other values as JSON. */
export function shown(cell: unknown, lengthMax = SHOWN_LENGTH_MAX): string {
  const text = typeof cell === 'string' ? cell : cell === undefined ? '' : JSON.stringify(cell);
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
}

/** What the service takes as the body of one book, in bytes. */
const BOOK_BYTES_MAX = 1_024 * 1_024;

/** A character takes at most this as JSON, as an escape. */
const CHARACTER_BYTES_MAX = 6;

function isTooLong(book: BookFields): boolean {
  const length = book.title.length + book.author.length;
  if (length * CHARACTER_BYTES_MAX < BOOK_BYTES_MAX / 2) return false;
  return new TextEncoder().encode(JSON.stringify(book)).length > BOOK_BYTES_MAX;
}
