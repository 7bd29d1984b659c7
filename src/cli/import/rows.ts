import type { Format } from '../format.ts';
import type { Columns } from './columns.ts';
import { readCsv } from './csv.ts';
import { readJsonArray } from './json-array.ts';
import { readNdjson } from './ndjson.ts';
import type { Row } from './row.ts';

/** How the rows of each format are read, some at a time. */
const READERS = {
  csv: readCsv,
  json: readJsonArray,
  ndjson: readNdjson,
} satisfies Record<Format, typeof readCsv>;

/**
 * Reads a file row by row. A row that is no book is one all the same; after one that cannot be read on there are no
 * more.
 *
 * @throws CommandFailed when the file is none of the format
 */
export function readRows(
  format: Format,
  chunks: AsyncIterable<Uint8Array>,
  columns: Columns,
): AsyncIterable<Row[]> {
  return READERS[format](chunks, columns);
}
