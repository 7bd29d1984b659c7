import { shown } from '../../../../src/formats/book-row.ts';
import type { Mapping } from '../../../../src/formats/mapping.ts';
import { csvRecord } from '../../../../src/formats/rendering.ts';
import type { Fault } from '../../../../src/formats/row.ts';
import { readBooks } from './check-file.ts';
import type { RowFile } from './row-file.ts';

/** With this in front, spreadsheet programs know that a file is UTF-8. */
export const BOM = '\uFEFF';

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
      'cells' in row ? row.cells : 'json' in row ? [new TextDecoder().decode(row.json).trim()] : [];
    yield csvRecord([line, texts.explain(fault), ...cells.map((cell) => shown(cell, CELL_LENGTH_MAX))]);
  }
}

/** The most that spreadsheet programs take in a cell. */
const CELL_LENGTH_MAX = 32_000;
