import { promisify } from 'node:util';
import { type Info, type Options, Parser } from 'csv-parse';
import type { Columns } from './columns.ts';
import { CsvHeader } from './csv-header.ts';
import { ROW_BYTES_MAX, type Row } from './row.ts';

/** How much of RFC 4180 a file may leave out: a quote out of place stands for itself, and lines end in any way. */
const TOLERANCE: Options = {
  relax_column_count: true,
  relax_quotes: true,
  skip_empty_lines: true,
  skip_records_with_error: true,
  record_delimiter: ['\r\n', '\n', '\r'],
};

/**
 * Reads CSV (RFC 4180) with a header; empty lines do not count.
 *
 * @param chunks its bytes, without a byte-order mark
 * @yields the rows of each chunk
 * @throws CommandFailed when the header has none of the columns
 */
export async function* readCsv(chunks: AsyncIterable<Uint8Array>, columns: Columns): AsyncGenerator<Row[]> {
  const reading = new CsvReading(columns);
  for await (const chunk of chunks) {
    const rows = await reading.take(chunk);
    if (rows.length > 0) yield rows;
    if (reading.isStuck) return;
  }
  yield await reading.end();
}

class CsvReading {
  readonly #columns: Columns;
  readonly #parser: Parser;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #header: CsvHeader | undefined;
  #rows: Row[] = [];
  #failure: unknown;
  #isUtf8 = true;
  /** Where the last record ended: the line, and the number of bytes. */
  #line = 0;
  #bytes = 0;
  #bytesTaken = 0;
  /** The parser counts a line's end of two bytes twice when it is within quotes. */
  #linesCountedTwice = 0;

  constructor(columns: Columns) {
    this.#columns = columns;
    this.#parser = new Parser({
      ...TOLERANCE,
      on_record: (record: string[], info: Info) => this.#record(record, info),
      // Nothing else is an error to a parser that is as tolerant.
      on_skip: () => this.#fail('a quote that opens in this row is not closed'),
    });
    this.#parser.resume();
  }

  /** Whether what is taken makes no record any more. */
  get isStuck(): boolean {
    return this.#bytesTaken - this.#bytes > ROW_BYTES_MAX;
  }

  async take(chunk: Uint8Array): Promise<Row[]> {
    this.#checkEncoding(chunk);
    await promisify<Uint8Array, void>(this.#parser.write.bind(this.#parser))(chunk);
    this.#bytesTaken += chunk.length;
    if (this.isStuck)
      this.#fail('this row is longer than 8 MiB: is a quote not closed? The rest was not read');
    return this.#takeRows();
  }

  async end(): Promise<Row[]> {
    await new Promise<void>((resolve) => this.#parser.end(resolve));
    if (!this.#header) this.#record([], { lines: 0, bytes: 0 });
    return this.#takeRows();
  }

  /** @returns null: the parser need not keep it */
  #record(record: readonly string[], { lines, bytes }: Pick<Info, 'lines' | 'bytes'>): null {
    const ends = countLineEnds(record);
    this.#linesCountedTwice += ends.bytes - ends.lines;
    this.#line = lines - this.#linesCountedTwice;
    this.#bytes = bytes;
    try {
      if (this.#header) this.#rows.push(this.#header.read(record, this.#line - ends.lines, this.#isUtf8));
      else this.#header = new CsvHeader(record, this.#columns);
    } catch (error) {
      this.#failure = error;
    }
    return null;
  }

  #fail(fault: string): undefined {
    this.#rows.push({ line: this.#line + 1, fault });
  }

  #takeRows(): Row[] {
    if (this.#failure !== undefined) throw this.#failure;
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  /** The parser puts U+FFFD in place of what is not UTF-8. */
  #checkEncoding(chunk: Uint8Array): void {
    if (!this.#isUtf8) return;
    try {
      this.#decoder.decode(chunk, { stream: true });
    } catch {
      this.#isUtf8 = false;
    }
  }
}

function countLineEnds(record: readonly string[]): { lines: number; bytes: number } {
  let lines = 0;
  let bytes = 0;
  for (const value of record) {
    if (!value.includes('\n') && !value.includes('\r')) continue;
    lines += value.match(/\r\n|\r|\n/g)?.length ?? 0;
    bytes += value.match(/[\r\n]/g)?.length ?? 0;
  }
  return { lines, bytes };
}
