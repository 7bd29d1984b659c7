import { displayText } from '../../../../src/formats/book-row.ts';
import type { Mapping } from '../../../../src/formats/mapping.ts';
import { csvRecord } from '../../../../src/formats/rendering.ts';
import type { RowError } from '../../../../src/formats/row.ts';
import { readBooks } from './check-file.ts';
import type { RowFile } from './row-file.ts';

/** The byte-order mark by which spreadsheet programs recognize UTF-8. */
export const BOM = '\uFEFF';

/** The limit of spreadsheet programs for the text of a cell. */
const CELL_LENGTH_MAX = 32_000;

export interface ReportTexts {
  readonly line: string;
  readonly reason: string;
  readonly row: string;
  readonly explain: (error: RowError) => string;
}

/**
 * Writes the invalid rows of a file as CSV, with their lines and errors. CSV rows keep their columns, so that users can correct
 * and import the report; other rows are JSON in one column.
 *
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
  for await (const bookRow of readBooks(file, mapping)) {
    if ('book' in bookRow) continue;
    const { line, error, row } = bookRow;
    const cells =
      'cells' in row ? row.cells : 'json' in row ? [new TextDecoder().decode(row.json).trim()] : [];
    yield csvRecord([line, texts.explain(error), ...cells.map((cell) => displayText(cell, CELL_LENGTH_MAX))]);
  }
}
