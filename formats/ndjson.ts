import { isSpace, LINE_FEED } from '../src/json/characters.ts';
import { concat } from './chunks.ts';
import { type RawRow, ROW_BYTES_MAX } from './row.ts';

/** Reads JSON values on separate lines (ndjson.org), without empty lines. */
export async function* readNdjson(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<RawRow[]> {
  let bytes: Uint8Array = new Uint8Array();
  let line = 1;
  let isTooLong = false;
  const rows: RawRow[] = [];
  const addLine = (json: Uint8Array) => {
    if (isTooLong || json.length > ROW_BYTES_MAX) rows.push({ line, error: { kind: 'row-too-long' } });
    else if (!json.every(isSpace)) rows.push({ line, json });
    isTooLong = false;
    line++;
  };

  for await (const chunk of chunks) {
    bytes = concat(bytes, chunk);
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      addLine(bytes.subarray(start, end));
      start = end + 1;
    }
    bytes = bytes.subarray(start);
    if (bytes.length > ROW_BYTES_MAX) {
      isTooLong = true;
      bytes = new Uint8Array();
    }
    yield rows.splice(0);
  }
  addLine(bytes);
  yield rows;
}
