import { guessMapping, type Mapping } from '../../../../src/formats/mapping.ts';
import type { RawRow } from '../../../../src/formats/row.ts';
import { UnreadableFileError } from './file-bytes.ts';
import { type RowFile, readRows } from './row-file.ts';

/** How a file begins. */
export interface Sample {
  readonly columns: readonly string[];
  readonly rows: readonly RawRow[];
}

/** So many rows are looked at before a person chooses columns. */
const SAMPLE_ROWS = 100;

/** Reads the first rows of a file. @throws {UnreadableFileError} */
export async function readSample(file: RowFile): Promise<Sample> {
  const { columns, rows: all } = await readRows(file);
  const rows: RawRow[] = [];
  for await (const some of all) {
    rows.push(...some);
    if (rows.length >= SAMPLE_ROWS) break;
  }
  const [first] = rows;
  if (first && 'fault' in first && first.fault.kind === 'no-array') throw new UnreadableFileError('no-array');
  return { columns, rows: rows.slice(0, SAMPLE_ROWS) };
}

/**
 * Guesses whether the first row of a CSV file is a book: when no column has a name that means anything, and one is named by a
 * number.
 */
export function looksLikeBook(columns: readonly string[]): boolean {
  const isNamed = Object.values(guessMapping(columns)).some((column) => column !== undefined);
  return !isNamed && columns.some((column) => YEAR.test(column));
}

/** Guesses by their cells which columns of CSV hold what: a year is a number, and of the others the title comes first. */
export function guessByCells({ columns, rows }: Sample): Mapping {
  const year = columns.find((_, index) =>
    rows.every((row) => !('cells' in row) || YEAR.test(row.cells[index] ?? '')),
  );
  const [title, author] = columns.filter((column) => column !== year);
  return { title, author, year };
}

const YEAR = /^\s*-?[0-9]{1,4}(\.0*)?\s*$/;
