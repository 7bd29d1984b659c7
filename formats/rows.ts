import { chain, concat } from './chunks.ts';
import { readCsv } from './csv.ts';
import { type Encoding, INSPECTED_BYTES, toUtf8 } from './encoding.ts';
import type { Format } from './file-format.ts';
import { detectFormat } from './file-kind.ts';
import { readJson } from './json-rows.ts';
import { readMembers } from './members.ts';
import { readNdjson } from './ndjson.ts';
import type { RawRow, RowError } from './row.ts';

const READERS = { csv: readCsv, json: readJson, ndjson: readNdjson };

/** The number of JSON objects whose members are the columns. */
const SAMPLE_ROWS = 1_000;

export interface Rows {
  readonly format: Format;
  /** The encoding; `utf-8` until another one is found, which may be after some rows. */
  readonly encoding: Encoding;
  /** The distinct names of the columns: the header of CSV, or the members of the first 1,000 JSON objects. */
  readonly columns: readonly string[];
  /** The cells of the first CSV record, also if it has the names of the columns; and why it could not be read. */
  readonly first: { readonly cells: readonly string[]; readonly error: RowError | undefined };
  /** The rows without the header, in batches; can be read once. It ends after an error that prevents further reading. */
  readonly rows: AsyncIterable<readonly RawRow[]>;
}

export interface RowOptions {
  /** The name of the file, whose extension tells the format; by default the content does. */
  readonly name?: string;
  readonly format?: Format | undefined;
  /** Whether the first CSV record has the names of the columns; true by default. Otherwise columns are numbered. */
  readonly hasHeader?: boolean;
}

/** Reads a file row by row, in constant memory. @throws {ForeignFileError} when it is no table */
export async function openRows(
  chunks: AsyncIterable<Uint8Array>,
  { name = '', format: given, hasHeader = true }: RowOptions = {},
): Promise<Rows> {
  const iterator = chunks[Symbol.asyncIterator]();
  let start: Uint8Array = new Uint8Array();
  let encoding: Encoding = 'utf-8';
  while (start.length < INSPECTED_BYTES) {
    const { value, done } = await iterator.next();
    if (done) break;
    start = concat(start, value);
  }
  let detected: Format;
  try {
    detected = detectFormat(name, start);
  } catch (error) {
    await iterator.return?.();
    throw error;
  }
  const format = given ?? detected;
  const text = toUtf8(chain(start, iterator), (found) => {
    encoding = found;
  });
  const reader = READERS[format](text);
  const sample: RawRow[] = [];
  const sampleRows = format === 'csv' ? 1 : SAMPLE_ROWS;
  while (sample.length < sampleRows) {
    const { value, done } = await reader.next();
    if (done) break;
    sample.push(...value);
  }
  const [first] = sample;
  const header = first && 'cells' in first ? first.cells : undefined;
  if (header && hasHeader) sample.shift();
  return {
    format,
    get encoding() {
      return encoding;
    },
    first: {
      cells: header ?? [],
      error: format === 'csv' && first && 'error' in first ? first.error : undefined,
    },
    columns: header ? columnNames(header, hasHeader) : namesOf(sample),
    rows: chainRows(sample, reader),
  };
}

async function* chainRows(sample: RawRow[], reader: AsyncGenerator<RawRow[]>): AsyncGenerator<RawRow[]> {
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
function namesOf(rows: readonly RawRow[]): string[] {
  const names = rows.flatMap((row) => ('json' in row ? readMembers(row.json) : []));
  return [...new Set(names.map(([name]) => name))];
}
