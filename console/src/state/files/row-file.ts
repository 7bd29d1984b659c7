import type { Encoding } from '../../../../src/formats/encoding.ts';
import { type Format, formatOfName } from '../../../../src/formats/file-format.ts';
import { openRows, type Rows } from '../../../../src/formats/rows.ts';
import { bytesAt, encodingOf, readChunks, UnreadableFileError, utf16Of } from './file-bytes.ts';

/** A file whose rows can be read repeatedly. */
export interface RowFile {
  readonly file: File;
  readonly format: Format;
  readonly encoding: Encoding;
  /** Whether the first row of a CSV file contains column names. */
  readonly hasHeader: boolean;
}

/** @throws {UnreadableFileError} when it is JSON that is not Unicode (RFC 8259, section 8.1) */
export async function openRowFile(file: File, format: Format): Promise<RowFile> {
  const encoding = await encodingOf(file);
  if (format !== 'csv' && encoding === 'windows-1252') throw new UnreadableFileError('not-utf8');
  return { file, format, encoding, hasHeader: true };
}

/** Opens the rows; `onProgress` gets the number of bytes read. @throws {UnreadableFileError}, also by the rows */
export function readRows(file: RowFile, onProgress?: (bytes: number) => void): Promise<Rows> {
  return openRows(file.format, readChunks(file.file, onProgress), file);
}

/** The bytes that are inspected to detect the format of a file. */
const INSPECTED_BYTES = 4_096;

/** The signatures of .xlsx and .ods (ZIP), and of .xls (compound file). */
const WORKBOOKS = [
  [0x50, 0x4b, 0x03, 0x04],
  [0xd0, 0xcf, 0x11, 0xe0],
];

/**
 * Detects the format of a file by its extension, or by its first character if the extension is unknown.
 *
 * @throws {UnreadableFileError} when it is a workbook of a spreadsheet program, or not a text file
 */
export async function formatOf(file: File): Promise<Format> {
  const bytes = await bytesAt(file, 0, INSPECTED_BYTES);
  const isWorkbook = WORKBOOKS.some((signature) => signature.every((byte, index) => bytes[index] === byte));
  if (isWorkbook) throw new UnreadableFileError('workbook');
  const utf16 = utf16Of(bytes);
  if (!utf16 && bytes.includes(0)) throw new UnreadableFileError('binary');
  const named = formatOfName(file.name);
  const first = new TextDecoder(utf16).decode(bytes).trimStart()[0];
  // Some programs write .json files with one object per line.
  if (named === 'json' && first === '{') return 'ndjson';
  return named ?? (first === '[' ? 'json' : first === '{' ? 'ndjson' : 'csv');
}
