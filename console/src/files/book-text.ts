import type { Book } from '../../../src/client/index.ts';
import { BOM, csvRecord } from './csv-text.ts';
import type { Format } from './formats.ts';

/** How books become a file. */
interface Writer {
  readonly type: string;
  /** What stands in front of all books, between two of them, and behind them. */
  readonly head: string;
  readonly between: string;
  readonly tail: string;
  readonly write: (book: Book) => string;
}

const WRITERS: Readonly<Record<Format, Writer>> = {
  csv: {
    type: 'text/csv',
    head: BOM + csvRecord(['id', 'title', 'author', 'year']),
    between: '',
    tail: '',
    write: ({ id, title, author, year }) => csvRecord([id, title, author, year]),
  },
  json: { type: 'application/json', head: '[\n', between: ',\n', tail: '\n]\n', write: jsonOf },
  ndjson: { type: 'application/x-ndjson', head: '', between: '\n', tail: '\n', write: jsonOf },
};

function jsonOf({ id, title, author, year }: Book): string {
  return JSON.stringify({ id, title, author, year });
}

/** The media type of a format (RFC 7111, RFC 8259; NDJSON has none that is registered). */
export function mediaTypeOf(format: Format): string {
  return WRITERS[format].type;
}

/** Writes books as a file, page after page. */
export async function* writeBooks(
  pages: AsyncIterable<readonly Book[]>,
  format: Format,
): AsyncGenerator<string, void> {
  const { head, between, tail, write } = WRITERS[format];
  yield head;
  let isFirst = true;
  for await (const books of pages) {
    if (books.length === 0) continue;
    const text = books.map(write).join(between);
    yield isFirst ? text : between + text;
    isFirst = false;
  }
  if (!isFirst || format === 'json') yield tail;
}
