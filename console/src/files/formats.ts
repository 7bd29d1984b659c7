import { bytesOf, startsWith, UnreadableFileError } from './file-bytes.ts';

/** The kinds of files that books come from and go to. */
export const FORMATS = ['csv', 'json', 'ndjson'] as const;
export type Format = (typeof FORMATS)[number];

const ENDINGS: Readonly<Record<string, Format>> = {
  csv: 'csv',
  tsv: 'csv',
  json: 'json',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
};

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
  const isWide = startsWith(bytes, UTF16LE_BOM);
  if (!isWide && bytes.includes(0)) throw new UnreadableFileError('binary');
  const ending = /\.([^.]+)$/.exec(file.name)?.[1]?.toLowerCase() ?? '';
  const begins = new TextDecoder().decode(bytes).trimStart()[0];
  // A name that ends in .json may hold one object a line all the same.
  if (ending === 'json' && begins === '{') return 'ndjson';
  return ENDINGS[ending] ?? (begins === '[' ? 'json' : begins === '{' ? 'ndjson' : 'csv');
}

/** What .xlsx and .ods begin with … */
const ZIP = [0x50, 0x4b, 0x03, 0x04];
/** … and .xls. */
const COMPOUND_FILE = [0xd0, 0xcf, 0x11, 0xe0];
const UTF16LE_BOM = [0xff, 0xfe];
