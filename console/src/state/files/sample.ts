import { guessMapping, type Mapping } from '../../../../src/formats/mapping.ts';
import type { RawRow } from '../../../../src/formats/row.ts';
import { UnreadableFileError } from './file-bytes.ts';
import { type RowFile, readRows } from './row-file.ts';

export interface Sample {
  readonly columns: readonly string[];
  readonly rows: readonly RawRow[];
}

const SAMPLE_ROWS = 100;

const YEAR = /^\s*-?[0-9]{1,4}(\.0*)?\s*$/;

/** Reads the first rows of a file. @throws {UnreadableFileError} */
export async function readSample(file: RowFile): Promise<Sample> {
  const { columns, rows: all } = await readRows(file);
  const rows: RawRow[] = [];
  for await (const some of all) {
    rows.push(...some);
    if (rows.length >= SAMPLE_ROWS) break;
  }
  const [first] = rows;
  if (first && 'error' in first && first.error.kind === 'no-array') throw new UnreadableFileError('no-array');
  return { columns, rows: rows.slice(0, SAMPLE_ROWS) };
}

/** Whether the first row of a CSV file seems to be a book: it contains a year, and no known column name. */
export function looksLikeBook(columns: readonly string[]): boolean {
  const isNamed = Object.values(guessMapping(columns)).some((column) => column !== undefined);
  return !isNamed && columns.some((column) => YEAR.test(column));
}

/** Guesses the columns of a CSV file without a header: years are numbers, and of the others the first is the title. */
export function guessByCells({ columns, rows }: Sample): Mapping {
  const year = columns.find((_, index) =>
    rows.every((row) => !('cells' in row) || YEAR.test(row.cells[index] ?? '')),
  );
  const [title, author] = columns.filter((column) => column !== year);
  return { title, author, year };
}
