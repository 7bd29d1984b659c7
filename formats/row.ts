import {
  EMPTY_BOOK,
  FIELD_NAMES,
  type FieldName,
  fieldsOf,
  findLongText,
  type TextName,
  textLengthOf,
} from '../src/book/contract.ts';
import { formatBytes } from '../src/http/body-limits.ts';
import type { ArrayError } from '../src/json/array-scanner.ts';
import { DEPTH_MAX, type JsonError } from '../src/json/parse-json.ts';

export { DEPTH_MAX, EMPTY_BOOK, fieldsOf, findLongText, textLengthOf };

/** The fields of a book, which are read from a file and written to one. */
export const FIELDS: readonly Field[] = FIELD_NAMES;
export type Field = FieldName;

/** The maximum length of a row, in bytes: longer than a book, since a row may have columns that are not imported. */
export const ROW_BYTES_MAX = 8 * 1_024 * 1_024;

/** The maximum length of a row in words. */
export const ROW_SIZE_MAX = formatBytes(ROW_BYTES_MAX);

/** The position of a row in its file; both numbers start at 1. */
export interface RowPosition {
  /** The line in which it starts. */
  readonly line: number;
  /** Its number in a JSON array. */
  readonly element?: number;
}

/** A row of a file: a CSV record, the bytes of a JSON value, or the reason why it cannot be read. */
export type RawRow = RowPosition &
  ({ readonly cells: readonly string[] } | { readonly json: Uint8Array } | { readonly error: RowError });

/**
 * Why a row is not a book: `cell-count` is of a CSV record; `text` is not a string that stores preserve (well-formed Unicode
 * without U+0000), `text-too-long` one that is longer than `TEXT_LENGTH_MAX`; `year` is no year of a book, and `id` no integer in its
 * range. In an update, no book has an `id-unknown`, and an earlier row has an `id-repeated`. After an {@link ArrayError}, or a CSV or JSON
 * row that is too long, the rest of the file is not read.
 */
export type RowError =
  | { readonly kind: JsonError | 'not-object' | 'empty' | 'row-too-long' }
  | { readonly kind: 'unclear-quote' | ArrayError }
  | { readonly kind: 'cell-count'; readonly found: number; readonly expected: number }
  | { readonly kind: 'text' | 'text-too-long'; readonly field: TextName }
  | { readonly kind: 'year' | 'id'; readonly value: string }
  | { readonly kind: 'id-unknown' | 'id-repeated'; readonly id: number };
