/** The fields of a book that a file can fill. */
export const FIELDS = ['title', 'author', 'year'] as const;
export type Field = (typeof FIELDS)[number];

/** The most bytes of one row: a book has at most 1 MiB, and a row may have columns that are not imported. */
export const ROW_BYTES_MAX = 8 * 1_024 * 1_024;

/** Where a row is in its file; both numbers start at 1. */
interface Position {
  /** The line where it begins. */
  readonly line: number;
  /** Its number in a JSON array. */
  readonly element?: number;
}

/** A row as it is in the file: a record of CSV, the bytes of a JSON value, or the reason why there is neither. */
export type RawRow = Position &
  ({ readonly cells: readonly string[] } | { readonly json: Uint8Array } | { readonly fault: Fault });

/**
 * Why a row is not a book:
 *
 * - `not-utf8`, `not-json`, `not-object`: the bytes of the row are not UTF-8, not JSON, or not a JSON object;
 * - `cells`: a record of CSV has more or fewer cells than there are columns;
 * - `text`: a title or an author is not a string, or has U+0000 or a lone surrogate, which no store can keep;
 * - `year`, `id`: not a whole number in the range of the field;
 * - `nothing`: title, author and year are all empty;
 * - `book-too-long`: more than the service accepts for one book (1 MiB); `row-too-long`: more than {@link ROW_BYTES_MAX};
 * - `unclosed-quote`: a quote opens in this row and is not closed before the end of the file;
 * - `no-array`: the file does not begin with a JSON array; `broken`: neither an element, nor a comma, nor the end of the
 *   array, where one is expected; `cut-off`: the file ends before its array does; `trailing`: the file continues after it.
 *   Nothing is read after one of these, and after a CSV or JSON row that is too long.
 */
export type Fault =
  | { readonly kind: 'not-utf8' | 'not-json' | 'not-object' | 'nothing' | 'book-too-long' | 'row-too-long' }
  | { readonly kind: 'unclosed-quote' | ArrayFault }
  | { readonly kind: 'cells'; readonly found: number; readonly expected: number }
  | { readonly kind: 'text'; readonly field: Field }
  | { readonly kind: 'year' | 'id'; readonly value: string };

/** What is wrong with the array itself; see {@link Fault}. */
export type ArrayFault = 'no-array' | 'broken' | 'cut-off' | 'trailing';

/** Joins what is left of one chunk and the next chunk. */
export function concat(rest: Uint8Array, chunk: Uint8Array): Uint8Array {
  if (rest.length === 0) return chunk;
  const bytes = new Uint8Array(rest.length + chunk.length);
  bytes.set(rest);
  bytes.set(chunk, rest.length);
  return bytes;
}
