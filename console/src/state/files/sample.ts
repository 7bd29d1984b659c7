import type { Format } from 'bookkeeping-formats/file-format.ts';
import type { RawRow } from 'bookkeeping-formats/row.ts';
import { UnreadableFileError } from './file-bytes.ts';
import { type RowFile, readRows } from './row-file.ts';

export interface Sample {
  readonly format: Format;
  readonly columns: readonly string[];
  /** The cells of the first record of a CSV file. */
  readonly firstCells: readonly string[];
  readonly rows: readonly RawRow[];
}

const SAMPLE_ROWS = 100;

/** Reads the first rows of a file. @throws {UnreadableFileError} */
export async function readSample(file: RowFile): Promise<Sample> {
  const { format, columns, first: header, rows: all } = await readRows(file);
  const rows: RawRow[] = [];
  for await (const some of all) {
    rows.push(...some);
    if (rows.length >= SAMPLE_ROWS) break;
  }
  const [first] = rows;
  if (first && 'error' in first && first.error.kind === 'no-array') throw new UnreadableFileError('no-array');
  return { format, columns, firstCells: header.cells, rows: rows.slice(0, SAMPLE_ROWS) };
}
