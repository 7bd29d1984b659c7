import type { Columns } from './columns.ts';
import { Pieces } from './pieces.ts';
import { jsonRowReader, type Row, TOO_LONG } from './row.ts';

/**
 * Reads JSON objects on lines of their own (ndjson.org); empty lines do not count.
 *
 * @param chunks UTF-8, without a byte-order mark
 * @yields the rows of each chunk
 */
export async function* readNdjson(
  chunks: AsyncIterable<Uint8Array>,
  columns: Columns,
): AsyncGenerator<Row[]> {
  const read = jsonRowReader(columns);
  const pieces = new Pieces();
  let line = 1;
  const takeRow = (): Row | undefined => {
    const { isTooLong } = pieces;
    const bytes = pieces.take();
    if (isTooLong) return { line, fault: TOO_LONG };
    return bytes.every(isSpace) ? undefined : read(bytes, line);
  };

  for await (const chunk of chunks) {
    const rows: Row[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      pieces.add(chunk.subarray(start, end));
      const row = takeRow();
      if (row) rows.push(row);
      line++;
      start = end + 1;
    }
    pieces.add(chunk.subarray(start));
    if (rows.length > 0) yield rows;
  }
  const last = takeRow();
  if (last) yield [last];
}

const LINE_FEED = 0x0a;

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}
