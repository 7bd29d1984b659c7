import { isObject } from '../json/json-object.ts';
import { parseJson } from '../json/parse-json.ts';
import { readCsv } from './csv.ts';
import { type Encoding, toUtf8 } from './encoding.ts';
import type { Format } from './file-format.ts';
import { readJsonArray } from './json-array.ts';
import { readNdjson } from './ndjson.ts';
import type { RawRow } from './row.ts';

const READERS = { csv: readCsv, json: readJsonArray, ndjson: readNdjson };

/** The number of JSON objects whose members are the columns. */
const SAMPLE_ROWS = 1_000;

export interface Rows {
  /** The distinct names of the columns: the header of CSV, or the members of the first 1,000 JSON objects. */
  readonly columns: readonly string[];
  /** The rows without the header, in batches; can be read once. It ends after an error that prevents further reading. */
  readonly rows: AsyncIterable<readonly RawRow[]>;
}

export interface RowOptions {
  /** See {@link toUtf8}. */
  readonly encoding?: Encoding;
  /** Whether the first CSV record has the names of the columns; true by default. Otherwise columns are numbered. */
  readonly hasHeader?: boolean;
}

/** Reads a file row by row, in constant memory. */
export async function openRows(
  format: Format,
  chunks: AsyncIterable<Uint8Array>,
  { encoding, hasHeader = true }: RowOptions = {},
): Promise<Rows> {
  const reader = READERS[format](toUtf8(chunks, encoding));
  const sample: RawRow[] = [];
  const sampleRows = format === 'csv' ? 1 : SAMPLE_ROWS;
  while (sample.length < sampleRows) {
    const { value, done } = await reader.next();
    if (done) break;
    sample.push(...value);
  }
  const [first] = sample;
  if (!first || !('cells' in first)) return { columns: membersOf(sample), rows: chain(sample, reader) };
  if (hasHeader) sample.shift();
  return { columns: columnNames(first.cells, hasHeader), rows: chain(sample, reader) };
}

async function* chain(sample: RawRow[], reader: AsyncGenerator<RawRow[]>): AsyncGenerator<RawRow[]> {
  try {
    yield sample;
    yield* reader;
  } finally {
    await reader.return(undefined);
  }
}

/** Numbers repeated names and columns without a name. */
function columnNames(cells: readonly string[], hasHeader: boolean): string[] {
  const names = new Set<string>();
  for (const [index, cell] of cells.entries()) {
    const base = (hasHeader && cell.trim()) || `#${index + 1}`;
    let name = base;
    for (let number = 2; names.has(name); number++) name = `${base} (${number})`;
    names.add(name);
  }
  return [...names];
}

/** Rows that are not JSON are reported when they are read as books. */
function membersOf(rows: readonly RawRow[]): string[] {
  const names = rows.flatMap((row) => {
    const json = 'json' in row ? parseJson(row.json) : undefined;
    return typeof json === 'object' && isObject(json.value) ? Object.keys(json.value) : [];
  });
  return [...new Set(names)];
}
