import { readCsv } from './csv.ts';
import { type Encoding, toUtf8 } from './encoding.ts';
import type { Format } from './file-format.ts';
import { readJsonArray } from './json-array.ts';
import { readNdjson } from './ndjson.ts';
import type { RawRow } from './row.ts';

const READERS = { csv: readCsv, json: readJsonArray, ndjson: readNdjson } as const satisfies Record<
  Format,
  unknown
>;

/** So many rows of JSON are read for the names of their members. */
const SAMPLE_ROWS = 1_000;

/** The rows of a file. */
export interface Rows {
  /** The names of the columns of CSV, all different; of JSON those of the members that the first 1,000 objects have. */
  readonly columns: readonly string[];
  /** The rows, some at a time, without the header; can be read once. After a row that cannot be read past, there are none. */
  readonly rows: AsyncIterable<readonly RawRow[]>;
}

/** How the bytes of a file are read. */
export interface RowOptions {
  /** See {@link toUtf8}. */
  readonly encoding?: Encoding;
  /** Whether the first record of CSV has the names of the columns, as it has by default; otherwise they are numbered. */
  readonly hasHeader?: boolean;
}

/** Opens a file for reading row by row. Memory does not grow with the file. */
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
  const isNamed = format === 'csv' && hasHeader;
  const columns = first && 'cells' in first ? namesOf(first.cells, hasHeader) : membersOf(sample);
  return { columns, rows: chain(isNamed && first && 'cells' in first ? sample.slice(1) : sample, reader) };
}

async function* chain(sample: RawRow[], reader: AsyncGenerator<RawRow[]>): AsyncGenerator<RawRow[]> {
  try {
    yield sample;
    yield* reader;
  } finally {
    await reader.return(undefined);
  }
}

/** Names that occur twice are told apart by number, and those that are empty are numbered. */
function namesOf(cells: readonly string[], hasHeader: boolean): string[] {
  const taken = new Set<string>();
  return cells.map((cell, index) => {
    const wanted = (hasHeader && cell.trim()) || `#${index + 1}`;
    let free = wanted;
    for (let number = 2; taken.has(free); number++) free = `${wanted} (${number})`;
    taken.add(free);
    return free;
  });
}

function membersOf(rows: readonly RawRow[]): string[] {
  const names = new Set<string>();
  for (const row of rows) {
    const value = 'json' in row ? parse(row.json) : undefined;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) continue;
    for (const name of Object.keys(value)) names.add(name);
  }
  return [...names];
}

function parse(json: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(json));
  } catch {
    return undefined;
  }
}
