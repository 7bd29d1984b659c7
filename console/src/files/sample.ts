import { cellOf } from './book-row.ts';
import { guessMapping, type Mapping } from './mapping.ts';
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

/**
 * Guesses whether the first row of a CSV file is a book: when no column has a name that means anything, and one is named by a
 * number.
 */
export function looksLikeBook(columns: readonly string[]): boolean {
  const isNamed = Object.values(guessMapping(columns)).some((column) => column !== undefined);
  return !isNamed && columns.some((column) => YEAR.test(column));
}

/** Guesses by their cells which columns hold what: a year is a number, and of the others the title comes first. */
export function guessByCells({ columns, rows }: Sample): Mapping {
  const year = columns.find((column) =>
    rows.every((row) => 'fault' in row || YEAR.test(String(cellOf(row, column)))),
  );
  const [title, author] = columns.filter((column) => column !== year);
  return { title, author, year };
}

const YEAR = /^\s*-?[0-9]{1,4}(\.0*)?\s*$/;
