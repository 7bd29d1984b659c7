import { guessMapping, type Mapping } from './mapping.ts';
import type { RawRow } from './row.ts';
import { readYear } from './year.ts';

/** Whether the first row of a CSV file seems to be a book: it contains a year, and no known column name. */
export function looksLikeBook(cells: readonly string[]): boolean {
  const isNamed = Object.values(guessMapping(cells)).some((column) => column !== undefined);
  return !isNamed && cells.some((cell) => cell.trim() !== '' && readYear(cell) !== undefined);
}

/** Guesses the columns of a CSV file without a header: the last column of years, and of the others the first is the title. */
export function guessByCells(columns: readonly string[], rows: readonly RawRow[]): Mapping {
  const records = rows.flatMap((row) => ('cells' in row ? [row.cells] : []));
  const isYear = (index: number) =>
    records.every((cells) => readYear(cells[index] ?? '') !== undefined) &&
    records.some((cells) => (cells[index] ?? '').trim() !== '');
  const year = columns.findLast((_, index) => isYear(index));
  const [title, author] = columns.filter((column) => column !== year);
  return { title, author, year };
}
