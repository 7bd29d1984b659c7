/** Spreadsheet programs run such texts as formulas. An apostrophe escapes them, and also texts that look escaped. */
const FORMULA = /^'*[=+\-@\t\r]/;
const ESCAPED_FORMULA = /^'+[=+\-@\t\r]/;
const TEXT_FORMULA = /^="((?:[^"]|"")*)"$/;

/** Escapes a text that spreadsheet programs would run as a formula. */
export function escapeFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/**
 * The text of a cell: without the apostrophe that {@link escapeFormula} has added, and that of a formula which only has a text
 * (`="1984"`), as programs write a number that spreadsheet programs shall not change.
 */
export function unescapeFormula(cell: string): string {
  if (ESCAPED_FORMULA.test(cell)) return cell.slice(1);
  const text = TEXT_FORMULA.exec(cell)?.[1];
  return text === undefined ? cell : text.replaceAll('""', '"');
}
