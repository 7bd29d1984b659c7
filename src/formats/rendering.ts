import type { Book } from '../book/book.ts';
import type { Format } from './file-format.ts';

/** How books are written in a format. */
interface Rendering {
  readonly mediaType: string;
  /** Text before all books, between two of them, after the last one if there is any, and after all of them. */
  readonly head: string;
  readonly separator: string;
  readonly terminator: string;
  readonly foot: string;
  readonly render: (book: Book) => string;
}

/**
 * A text that a spreadsheet program would take for a formula, and run. Such a text gets an apostrophe in front, with which
 * those programs mark texts; so do those that have one already, so that {@link withoutMark} can remove what was added.
 */
const FORMULA = /^'*[=+\-@\t\r]/;
const MARKED_FORMULA = /^'+[=+\-@\t\r]/;

const RENDERINGS: Readonly<Record<Format, Rendering>> = {
  csv: {
    mediaType: 'text/csv',
    head: csvRecord(['id', 'title', 'author', 'year']),
    separator: '',
    terminator: '',
    foot: '',
    render: ({ id, title, author, year }) => csvRecord([id, title, author, year]),
  },
  json: {
    mediaType: 'application/json',
    head: '[\n',
    separator: ',\n',
    terminator: '\n',
    foot: ']\n',
    render: renderJson,
  },
  ndjson: {
    mediaType: 'application/x-ndjson',
    head: '',
    separator: '\n',
    terminator: '\n',
    foot: '',
    render: renderJson,
  },
};

function renderJson({ id, title, author, year }: Book): string {
  return JSON.stringify({ id, title, author, year });
}

/** The media type of a format (RFC 7111, RFC 8259; NDJSON has none that is registered). */
export function mediaTypeOf(format: Format): string {
  return RENDERINGS[format].mediaType;
}

/** Writes books as a file, in pieces of a page each. */
export async function* writeBooks(
  pages: AsyncIterable<readonly Book[]>,
  format: Format,
): AsyncGenerator<string, void> {
  const { head, separator, terminator, foot, render } = RENDERINGS[format];
  yield head;
  let isFirst = true;
  for await (const books of pages) {
    if (books.length === 0) continue;
    const text = books.map(render).join(separator);
    yield isFirst ? text : separator + text;
    isFirst = false;
  }
  yield isFirst ? foot : terminator + foot;
}

/** A record of CSV (RFC 4180). Numbers stay numbers; texts cannot become formulas. */
export function csvRecord(cells: readonly (string | number)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** In quotes where RFC 4180 wants them, and where some readers would cut spaces or find another delimiter. */
function csvCell(cell: string | number): string {
  if (typeof cell === 'number') return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",;\t\r\n|]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The text of a cell without the apostrophe that {@link csvRecord} has added. */
export function withoutMark(cell: string): string {
  return MARKED_FORMULA.test(cell) ? cell.slice(1) : cell;
}
