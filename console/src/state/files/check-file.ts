import { type BookReading, type BookRow, bookReader } from 'bookkeeping-formats/book-row.ts';
import type { Encoding } from 'bookkeeping-formats/encoding.ts';
import { keyOf } from 'bookkeeping-formats/equal-books.ts';
import type { Mapping } from 'bookkeeping-formats/mapping.ts';
import type { RowError } from 'bookkeeping-formats/row.ts';
import { isNameless } from '../fields.ts';
import type { BookCounts } from './existing-books.ts';
import { type RowFile, readRows } from './row-file.ts';

/** Reads the rows of a file as books; invalid rows have an error. @throws {UnreadableFileError} */
export async function* readBooks(
  file: RowFile,
  mapping: Mapping,
  reading: BookReading = {},
): AsyncGenerator<BookRow, void> {
  const { columns, rows } = await readRows(file);
  const read = bookReader(columns, mapping, reading);
  for await (const some of rows) yield* some.map(read);
}

/** The number of valid and invalid rows of a file. */
export interface Check {
  readonly valid: number;
  readonly invalid: number;
  /** The valid rows with neither a title nor an author. */
  readonly nameless: number;
  /** The rows whose year cannot be read, valid or not. */
  readonly unreadYears: number;
  readonly encoding: Encoding;
  readonly counts: BookCounts;
  readonly errors: readonly InvalidRow[];
}

export interface InvalidRow {
  readonly line: number;
  readonly element: number | undefined;
  readonly error: RowError;
}

/** The number of errors that a check keeps. */
export const ERRORS_SHOWN_MAX = 1_000;

/**
 * Checks every row of a file.
 *
 * @param onProgress is called with the checked part of the file, from 0 to 1
 * @param reject returns why a row that is a book is invalid, if it is
 * @throws {UnreadableFileError}
 * @throws the reason of the signal when it is aborted
 */
export async function checkFile(
  file: RowFile,
  mapping: Mapping,
  reading: BookReading,
  signal: AbortSignal,
  onProgress: (part: number) => void,
  reject: (row: Extract<BookRow, { readonly book: unknown }>) => RowError | undefined = () => undefined,
): Promise<Check> {
  let valid = 0;
  let invalid = 0;
  let nameless = 0;
  let unreadYears = 0;
  const counts = new Map<string, number>();
  const errors: InvalidRow[] = [];
  const opened = await readRows(file, (bytes) => {
    signal.throwIfAborted();
    onProgress(bytes / file.file.size);
  });
  const read = bookReader(opened.columns, mapping, reading);
  for await (const rows of opened.rows) {
    for (const row of rows.map(read)) {
      const error = 'book' in row ? reject(row) : row.error;
      if ('book' in row && !error) {
        valid++;
        const key = keyOf(row.book);
        counts.set(key, (counts.get(key) ?? 0) + 1);
        if (isNameless(row.book)) nameless++;
        if (row.isYearUnread) unreadYears++;
        continue;
      }
      if (error?.kind === 'year') unreadYears++;
      if (error && invalid++ < ERRORS_SHOWN_MAX) errors.push({ line: row.line, element: row.element, error });
    }
  }
  signal.throwIfAborted();
  const { encoding } = opened;
  return { valid, invalid, nameless, unreadYears, encoding, counts, errors };
}
