import { type Fault, shown } from './book-row.ts';
import { readBooks } from './check.ts';
import { BOM, csvRecord } from './csv-text.ts';
import type { Mapping } from './mapping.ts';
import type { RowFile } from './row-file.ts';

/** How a report names its own columns, and what it says of a fault. */
export interface ReportTexts {
  readonly line: string;
  readonly reason: string;
  readonly row: string;
  readonly explain: (fault: Fault) => string;
}

/**
 * Writes a CSV file of the rows that cannot be imported: where each is, why, and what it has. Rows of CSV keep their columns,
 * so that the report can be corrected and imported itself; other rows are there as JSON.
 *
 * @param columns those of the file
 * @throws {UnreadableFileError}
 */
export async function* reportOf(
  file: RowFile,
  columns: readonly string[],
  mapping: Mapping,
  texts: ReportTexts,
): AsyncGenerator<string, void> {
  const isCsv = file.format === 'csv';
  yield BOM + csvRecord([texts.line, texts.reason, ...(isCsv ? columns : [texts.row])]);
  for await (const finding of readBooks(file, mapping)) {
    if ('book' in finding) continue;
    const { line, fault, row } = finding;
    const cells =
      isCsv && 'cells' in row ? row.cells.map((cell) => shown(cell, CELL_LENGTH_MAX)) : [textOf(row)];
    yield csvRecord([line, texts.explain(fault), ...cells]);
  }
}

/** The most that spreadsheet programs take in a cell. */
const CELL_LENGTH_MAX = 32_000;

function textOf(
  row:
    | { readonly text: string }
    | { readonly columns: readonly string[]; readonly cells: readonly unknown[] },
): string {
  if ('text' in row) return row.text;
  const object = Object.fromEntries(row.columns.map((column, index) => [column, row.cells[index]]));
  return shown(JSON.stringify(object), CELL_LENGTH_MAX);
}
