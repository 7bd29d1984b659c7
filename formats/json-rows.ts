import { ArrayScanner } from '../src/json/array-scanner.ts';
import { LINE_FEED } from '../src/json/characters.ts';
import { chain, concat } from './chunks.ts';
import { hasFurtherBooks, locateBooks } from './json-location.ts';
import { readNdjson } from './ndjson.ts';
import { type RawRow, ROW_BYTES_MAX } from './row.ts';

/** The beginning of a file in which the books must begin. */
const LOCATED_BYTES = 1_024 * 1_024;

/**
 * Reads the objects of a JSON text (RFC 8259), which are where {@link locateBooks} finds them. An element that is not JSON does not
 * affect the others.
 */
export async function* readJson(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<RawRow[]> {
  const iterator = chunks[Symbol.asyncIterator]();
  let start: Uint8Array = new Uint8Array();
  while (start.length < LOCATED_BYTES) {
    const { value, done } = await iterator.next();
    if (done) break;
    start = concat(start, value);
  }
  const { scanned, at, isInside } = locateBooks(start.subarray(0, LOCATED_BYTES));
  const text = chain(start, iterator);
  if (scanned === 'sequence' && isLineOfJson(start)) yield* readNdjson(text);
  else {
    const scanner = new ArrayScanner(scanned);
    scanner.at = at;
    yield* scanRows(text, scanner, isInside);
  }
}

/** @param isInside whether the text may go on after the last element */
async function* scanRows(
  chunks: AsyncIterable<Uint8Array>,
  scanner: ArrayScanner,
  isInside: boolean,
): AsyncGenerator<RawRow[]> {
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
    const isTooLong = bytes.length - scanner.at > ROW_BYTES_MAX;
    const isOver = isInside && scanner.isOver;
    const kind = isOver ? undefined : (scanner.error ?? (isTooLong ? 'row-too-long' : undefined));
    lineAt(scanner.at);
    if (kind) rows.push({ line, element, error: { kind } });
    bytes = bytes.subarray(scanner.at);
    scanner.at = 0;
    return rows;
  };

  const isOverInside = () => isInside && scanner.isOver;
  for await (const chunk of chunks) {
    bytes = concat(bytes, chunk);
    if (isOverInside()) {
      if (bytes.length >= LOCATED_BYTES) break;
      continue;
    }
    const rows = scan(false);
    yield rows;
    if (rows.some((row) => 'error' in row)) return;
  }
  if (!isOverInside()) yield scan(true);
  // Other books after these are not read, and must not be missing without a word.
  if (isOverInside() && hasFurtherBooks(bytes)) yield [{ line, element, error: { kind: 'trailing' } }];
}

/** Whether the first line is a JSON value. */
function isLineOfJson(bytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(bytes).trimStart();
  try {
    JSON.parse(text.slice(0, /[\r\n]|$/.exec(text)?.index));
    return true;
  } catch {
    return false;
  }
}
