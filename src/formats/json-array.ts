import { ArrayScanner } from '../json/array-scanner.ts';
import { LINE_FEED } from '../json/characters.ts';
import { concat, type RawRow, ROW_BYTES_MAX } from './row.ts';

/** Reads the elements of a JSON array (RFC 8259, section 5). An element that is not JSON does not affect the others. */
export async function* readJsonArray(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<RawRow[]> {
  const scanner = new ArrayScanner();
  let bytes: Uint8Array = new Uint8Array();
  let line = 1;
  let element = 1;
  const scan = (isLast: boolean): RawRow[] => {
    const rows: RawRow[] = [];
    let counted = 0;
    const lineAt = (end: number) => {
      const passed = bytes.subarray(counted, end);
      for (let at = passed.indexOf(LINE_FEED); at !== -1; at = passed.indexOf(LINE_FEED, at + 1)) line++;
      counted = end;
      return line;
    };
    for (let json = scanner.next(bytes, isLast); json; json = scanner.next(bytes, isLast)) {
      rows.push({ line: lineAt(scanner.at - json.length), element: element++, json });
    }
    const kind = scanner.error ?? (bytes.length - scanner.at > ROW_BYTES_MAX ? 'row-too-long' : undefined);
    lineAt(scanner.at);
    if (kind) rows.push({ line, element, error: { kind } });
    bytes = bytes.subarray(scanner.at);
    scanner.at = 0;
    return rows;
  };

  for await (const chunk of chunks) {
    bytes = concat(bytes, chunk);
    const rows = scan(false);
    yield rows;
    if (rows.some((row) => 'error' in row)) return;
  }
  yield scan(true);
}
