import type { BrokenRow, Row } from './row.ts';
import { type RowFile, readRows } from './row-file.ts';

/** How a file begins. */
export interface Sample {
  /** The names of all columns that occur in it. */
  readonly columns: readonly string[];
  readonly rows: readonly (Row | BrokenRow)[];
}

/** So many rows tell the columns of a file whose objects differ. */
const SAMPLE_ROWS = 100;

/** Reads the first rows of a file. @throws {UnreadableFileError} */
export async function readSample(file: RowFile): Promise<Sample> {
  const columns = new Set<string>();
  const rows: (Row | BrokenRow)[] = [];
  for await (const row of readRows(file)) {
    rows.push(row);
    if ('columns' in row) for (const column of row.columns) columns.add(column);
    if (rows.length === SAMPLE_ROWS) break;
  }
  return { columns: [...columns], rows };
}
