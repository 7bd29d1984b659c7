import { readObject } from './json-object.ts';
import type { BrokenRow, Row } from './row.ts';

/** Reads NDJSON: an object of JSON on each line. Empty lines do not count. */
export async function* readLineRows(text: AsyncIterable<string>): AsyncGenerator<Row | BrokenRow, void> {
  let line = 0;
  let rest = '';
  for await (const piece of text) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const content of lines) {
      line++;
      if (content.trim() !== '') yield readObject(line, content);
    }
  }
  if (rest.trim() !== '') yield readObject(line + 1, rest);
}
