import { encodingOfMark } from '../../../../src/formats/encoding.ts';
import { type Format, formatOfName } from '../../../../src/formats/file-format.ts';
import { bytesOf, startsWith, UnreadableFileError } from './file-bytes.ts';

/** How many bytes tell what a file is. */
const BEGINNING_BYTES = 4_096;

/**
 * Finds out what a file is, by the ending of its name, or else by how it begins.
 *
 * @throws {UnreadableFileError} when it is a workbook of a spreadsheet program, or no text at all
 */
export async function formatOf(file: File): Promise<Format> {
  const bytes = new Uint8Array(await bytesOf(file.slice(0, BEGINNING_BYTES)));
  if (startsWith(bytes, ZIP) || startsWith(bytes, COMPOUND_FILE)) throw new UnreadableFileError('workbook');
  const mark = encodingOfMark(bytes);
  if (!mark?.startsWith('utf-16') && bytes.includes(0)) throw new UnreadableFileError('binary');
  const named = formatOfName(file.name);
  const begins = new TextDecoder(mark).decode(bytes).trimStart()[0];
  // A name that ends in .json may hold one object a line all the same.
  if (named === 'json' && begins === '{') return 'ndjson';
  return named ?? (begins === '[' ? 'json' : begins === '{' ? 'ndjson' : 'csv');
}

/** What .xlsx and .ods begin with … */
const ZIP = [0x50, 0x4b, 0x03, 0x04];
/** … and .xls. */
const COMPOUND_FILE = [0xd0, 0xcf, 0x11, 0xe0];
