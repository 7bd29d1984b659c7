import type { Encoding } from '../../../../src/formats/encoding.ts';
import type { Format } from '../../../../src/formats/file-format.ts';
import { openRows, type Rows } from '../../../../src/formats/rows.ts';
import { UnreadableFileError } from './file-bytes.ts';
import { encodingOf, readChunks } from './file-chunks.ts';

/** A file whose rows can be read, as often as anybody likes. */
export interface RowFile {
  readonly file: File;
  readonly format: Format;
  readonly encoding: Encoding;
  /** Whether the first row of CSV has the names of the columns. */
  readonly hasHeader: boolean;
}

/** @throws {UnreadableFileError} when it is JSON that is not Unicode (RFC 8259, section 8.1) */
export async function openRowFile(file: File, format: Format): Promise<RowFile> {
  const encoding = await encodingOf(file);
  if (format !== 'csv' && encoding === 'windows-1252') throw new UnreadableFileError('not-utf8');
  return { file, format, encoding, hasHeader: true };
}

/**
 * Opens the rows of a file.
 *
 * @param onProgress is called with the number of bytes that have been read
 * @throws {UnreadableFileError}, also while the rows are read
 */
export function readRows(row: RowFile, onProgress?: (bytes: number) => void): Promise<Rows> {
  return openRows(row.format, readChunks(row.file, onProgress), row);
}
