import { readCsvRows } from './csv.ts';
import { UnreadableFileError } from './file-bytes.ts';
import type { Format } from './formats.ts';
import { readArrayRows } from './json-array.ts';
import { readLineRows } from './json-lines.ts';
import type { BrokenRow, Row } from './row.ts';
import { type Encoding, encodingOf, readText } from './text.ts';

/** A file whose rows can be read, as often as anybody likes. */
export interface RowFile {
  readonly file: File;
  readonly format: Format;
  readonly encoding: Encoding;
  /** Whether the first row of CSV has the names of the columns. */
  readonly hasHeader: boolean;
}

/** @throws {UnreadableFileError} when it is JSON in another encoding than UTF-8 (RFC 8259, section 8.1) */
export async function openRowFile(file: File, format: Format): Promise<RowFile> {
  const encoding = await encodingOf(file);
  if (format !== 'csv' && encoding !== 'utf-8') throw new UnreadableFileError('not-utf8');
  return { file, format, encoding, hasHeader: true };
}

const READERS = {
  csv: readCsvRows,
  json: readArrayRows,
  ndjson: readLineRows,
} as const satisfies Record<Format, Reader>;

type Reader = (text: AsyncIterable<string>, hasHeader: boolean) => AsyncIterable<Row | BrokenRow>;

/**
 * Reads a file row by row; those without anything in them are left out. Memory does not grow with the file.
 *
 * @param onProgress is told how many bytes have been read
 * @throws {UnreadableFileError}
 */
export function readRows(
  { file, format, encoding, hasHeader }: RowFile,
  onProgress?: (bytes: number) => void,
): AsyncIterable<Row | BrokenRow> {
  return READERS[format](readText(file, encoding, onProgress), hasHeader);
}
