/** A row of a file: a record of CSV, or an object of JSON. */
export interface Row {
  /** Where it begins in the file; the first line is 1. */
  readonly line: number;
  /** The names of its cells. The rows of a CSV file share one array. */
  readonly columns: readonly string[];
  /** Texts in CSV, any values in JSON. */
  readonly cells: readonly unknown[];
}

/** A row that cannot be read as one. */
export interface BrokenRow {
  readonly line: number;
  readonly fault: ReadingFault;
  /** What is there instead; cut where it is long. */
  readonly text: string;
}

/**
 * - `unclosed-quote`: a quotation mark opens and is never closed, so that all the rest of the file is one cell;
 * - `cells`: there are more or fewer cells than names of columns;
 * - `not-json`, `not-object`: what is there is not JSON, or no object;
 * - `cut-off`: the file ends before the array does; `trailing`: it goes on behind it.
 */
export type ReadingFault =
  | { readonly kind: 'unclosed-quote' | 'not-json' | 'not-object' | 'cut-off' | 'trailing' }
  | { readonly kind: 'cells'; readonly found: number; readonly expected: number };

/** The most of a broken row that is kept. */
const BROKEN_TEXT_MAX = 1_000;

export function broken(line: number, fault: ReadingFault, text: string): BrokenRow {
  return { line, fault, text: text.slice(0, BROKEN_TEXT_MAX) };
}
