/** With this in front, spreadsheet programs know that a file is UTF-8. */
export const BOM = '\uFEFF';

/**
 * A text that a spreadsheet program would take for a formula, and run. Such a text gets an apostrophe in front, with which
 * those programs mark texts; so do those that have one already, so that readers can take away what was added.
 */
const FORMULA = /^'*[=+\-@\t\r]/;
const MARKED_FORMULA = /^'+[=+\-@\t\r]/;

/** A record of CSV (RFC 4180). Numbers stay numbers; texts cannot become formulas. */
export function csvRecord(cells: readonly (string | number)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: string | number): string {
  if (typeof cell === 'number') return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The text of a cell without the apostrophe that {@link csvRecord} has put in front. */
export function withoutMark(cell: string): string {
  return MARKED_FORMULA.test(cell) ? cell.slice(1) : cell;
}
