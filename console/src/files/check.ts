import type { BookFields } from '../../../src/client/index.ts';
import { type Fault, isFault, readBookRow } from './book-row.ts';
import type { Mapping } from './mapping.ts';
import type { BrokenRow, Row } from './row.ts';
import { type RowFile, readRows } from './row-file.ts';

/** What a row of a file is to an import. */
export type Finding =
  | { readonly line: number; readonly book: BookFields }
  | { readonly line: number; readonly fault: Fault; readonly row: Row | BrokenRow };

/** Reads a file as books, row by row, good ones and bad ones. @throws {UnreadableFileError} */
export async function* readBooks(
  file: RowFile,
  mapping: Mapping,
  onProgress?: (bytes: number) => void,
): AsyncGenerator<Finding, void> {
  for await (const row of readRows(file, onProgress)) {
    const { line } = row;
    const result = readBookRow(row, mapping, file.format === 'csv');
    if (isFault(result)) yield { line, fault: result, row };
    else yield { line, book: result };
  }
}

/** What an import would do. */
export interface Check {
  readonly good: number;
  readonly bad: number;
  /** The first bad rows; the report has all of them. */
  readonly faults: readonly { readonly line: number; readonly fault: Fault }[];
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
  const faults: { line: number; fault: Fault }[] = [];
  const findings = readBooks(file, mapping, (bytes) => {
    signal.throwIfAborted();
    onProgress(bytes / file.file.size);
  });
  for await (const finding of findings) {
    if ('book' in finding) good++;
    else if (bad++ < FAULTS_SHOWN_MAX) faults.push({ line: finding.line, fault: finding.fault });
  }
  signal.throwIfAborted();
  return { good, bad, faults };
}
