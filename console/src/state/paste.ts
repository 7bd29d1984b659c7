import type { Book } from 'bookkeeping-client/index.ts';
import { escapeFormula, unescapeFormula } from 'bookkeeping-formats/formula.ts';
import { EMPTY_BOOK, FIELDS, type Field } from 'bookkeeping-formats/row.ts';
import type { BookList, Change } from './book-list.ts';
import type { CellRange } from './cursor.ts';
import { readYear, textOfYear } from './fields.ts';
import type { Operations } from './operations.ts';

/** The most rows that are pasted, copied or filled; an import and an export take any number. */
export const CELL_ROWS_MAX = 10_000;

/** Why nothing was pasted: too many rows, more columns than there are from the focused one on, or a year that is none. */
type PasteProblem = { readonly kind: 'rows' | 'columns' } | { readonly kind: 'year'; readonly value: string };

/** Books as spreadsheet programs copy cells: a tab between two, and quotes around those with tabs or line breaks. */
export function textOf(books: readonly Book[], fields: readonly Field[] = FIELDS): string {
  return books.map((book) => fields.map((field) => quote(copiedText(book, field))).join('\t')).join('\n');
}

/** A field as it is copied: not as a formula, which a spreadsheet program would run. The year 0 stands for an unknown one. */
export function copiedText(book: Book, field: Field): string {
  return field === 'year' ? textOfYear(book.year) : escapeFormula(book[field]);
}

function quote(text: string): string {
  return /[\t\r\n]|^"/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Reads cells as `textOf` writes them, or a spreadsheet program. A line break at the end is not followed by a row. */
export function cellsOf(text: string): string[][] {
  const rows: string[][] = [[]];
  const CELL = /(?:"((?:[^"]|"")*)"(?=[\t\r\n]|$)|([^\t\r\n]*))(\t|\r\n|\r|\n|$)/y;
  for (;;) {
    const [, quoted, plain = '', end = ''] = CELL.exec(text) ?? [];
    rows.at(-1)?.push(unescapeFormula(quoted?.replaceAll('""', '"') ?? plain));
    if (end === '' || (end !== '\t' && CELL.lastIndex === text.length)) return rows;
    if (end !== '\t') rows.push([]);
  }
}

/**
 * Writes cells over those of the list, from a row and a field on; rows after the last book are new books.
 *
 * @param mayReplace is asked before several books lose texts, with their number
 * @param range is filled with the cells if it is a multiple of them in both directions, as in spreadsheet programs
 * @returns why nothing was changed; undefined when it was, or when the user did not want it
 */
export async function paste(
  { list, operations }: { readonly list: BookList; readonly operations: Operations },
  row: number,
  field: Field,
  text: string,
  mayReplace: (books: number) => Promise<boolean>,
  range?: CellRange,
): Promise<PasteProblem | undefined> {
  const cells = repeatIn(range, cellsOf(text));
  const fields = FIELDS.slice(FIELDS.indexOf(field));
  if (cells.length > CELL_ROWS_MAX) return { kind: 'rows' };
  const last = row + cells.length - 1;
  const books = await readRows(list, row, last);
  const changes: Change[] = [];
  for (const [index, line] of cells.entries()) {
    if (line.length > fields.length) return { kind: 'columns' };
    const before = books[index];
    const after = { id: 0, ...EMPTY_BOOK, ...before };
    for (const [place, value] of line.entries()) {
      const name = fields[place] ?? field;
      if (name !== 'year') after[name] = value;
      else {
        const year = value.trim() === '' ? 0 : readYear(value);
        if (year === undefined) return { kind: 'year', value };
        after.year = year;
      }
    }
    changes.push({ before, after });
  }
  const replaced = changes.filter(isFilled).length;
  if (cells.length > 1 && replaced > 0 && !(await mayReplace(replaced))) return undefined;
  await operations.run(books.some(Boolean) ? 'edited' : 'added', changes);
  return undefined;
}

/** The cells for a range that is a multiple of them in both directions, or else once. */
function repeatIn(range: CellRange | undefined, cells: string[][]): string[][] {
  if (!range) return cells;
  const { first, last, fields } = range;
  const [rows, columns, width] = [last - first + 1, fields.length, cells[0]?.length ?? 0];
  const isEven = cells.every(({ length }) => length === width);
  if (!isEven || rows % cells.length !== 0 || columns % width !== 0) return cells;
  return Array.from({ length: Math.min(rows, CELL_ROWS_MAX + 1) }, (_, row) =>
    Array.from({ length: columns / width }, () => cells[row % cells.length] ?? []).flat(),
  );
}

/** The books of rows, fewer where the list ends; undefined if some are not loaded. @param last inclusive */
export function loadedRows(list: BookList, first: number, last: number): readonly Book[] | undefined {
  const length = Math.max(0, Math.min(last + 1, list.rowCount.value) - first);
  const books = Array.from({ length }, (_, index) => list.at(first + index));
  return books.every((book) => book !== undefined) ? books : undefined;
}

/** The books of rows, which are read if some are not loaded. @param last inclusive */
export async function readRows(list: BookList, first: number, last: number): Promise<readonly Book[]> {
  return loadedRows(list, first, last) ?? list.readRows(first, last + 1);
}

/** Whether a change replaces a text or a year. */
function isFilled({ before, after }: Change): boolean {
  return before !== undefined && FIELDS.some((name) => before[name] && before[name] !== after?.[name]);
}
