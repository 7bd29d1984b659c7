import { type BookRow, bookReader } from '../../../../src/formats/book-row.ts';
import type { Mapping } from '../../../../src/formats/mapping.ts';
import type { Fault } from '../../../../src/formats/row.ts';
import { type RowFile, readRows } from './row-file.ts';

/** Reads a file as books, row by row, good ones and bad ones. @throws {UnreadableFileError} */
export async function* readBooks(
  file: RowFile,
  mapping: Mapping,
  onProgress?: (bytes: number) => void,
): AsyncGenerator<BookRow, void> {
  const { columns, rows } = await readRows(file, onProgress);
  const read = bookReader(columns, mapping);
  for await (const some of rows) yield* some.map(read);
}

/** What an import would do. */
export interface Check {
  readonly good: number;
  readonly bad: number;
  /** The first bad rows; the report has all of them. */
  readonly faults: readonly BadRow[];
}

export interface BadRow {
  readonly line: number;
  /** Its number in a JSON array. */
  readonly element: number | undefined;
  readonly fault: Fault;
}

/** The most bad rows that are shown. */
export const FAULTS_SHOWN_MAX = 100;

/**
 * Looks at every row of a file before anything is sent.
 *
 * @param onProgress is told how much has been looked at, from 0 to 1
 * @throws {UnreadableFileError}
 * @throws the reason of the signal when it is aborted
 */
export async function checkFile(
  file: RowFile,
  mapping: Mapping,
  signal: AbortSignal,
  onProgress: (part: number) => void,
): Promise<Check> {
  let good = 0;
  let bad = 0;
  const faults: BadRow[] = [];
  const rows = readBooks(file, mapping, (bytes) => {
    signal.throwIfAborted();
    onProgress(bytes / file.file.size);
  });
  for await (const row of rows) {
    if ('book' in row) good++;
    else if (bad++ < FAULTS_SHOWN_MAX) {
      faults.push({ line: row.line, element: row.element, fault: row.fault });
    }
  }
  signal.throwIfAborted();
  return { good, bad, faults };
}
