import { ForeignFileError } from 'bookkeeping-formats/file-kind.ts';
import { openRows, type Rows } from 'bookkeeping-formats/rows.ts';
import { readChunks, UnreadableFileError } from './file-bytes.ts';

/** A file whose rows can be read repeatedly. */
export interface RowFile {
  readonly file: File;
  /** Whether the first row of a CSV file contains column names. */
  readonly hasHeader: boolean;
}

/** Opens the rows; `onProgress` gets the number of bytes read. @throws {UnreadableFileError}, also by the rows */
export async function readRows(
  { file, hasHeader }: RowFile,
  onProgress?: (bytes: number) => void,
): Promise<Rows> {
  try {
    return await openRows(readChunks(file, onProgress), { name: file.name, hasHeader });
  } catch (error) {
    if (error instanceof ForeignFileError) throw new UnreadableFileError(error.kind, error.format);
    throw error;
  }
}
