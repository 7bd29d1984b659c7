import type { Book } from '../src/book/contract.ts';
import type { Format } from './file-format.ts';
import { escapeFormula } from './formula.ts';
import { FIELDS, fieldsOf } from './row.ts';

const FILE_COLUMNS = ['id', ...FIELDS] as const;

interface Rendering {
  readonly mediaType: string;
  /** The text before all books, between two of them, and after all of them. */
  readonly head: string;
  readonly separator: string;
  readonly foot: string;
  readonly render: (book: Book) => string;
}

const RENDERINGS: Readonly<Record<Format, Rendering>> = {
  csv: {
    mediaType: 'text/csv',
    head: csvRecord(FILE_COLUMNS),
    separator: '',
    foot: '',
    render: (book) => csvRecord(FILE_COLUMNS.map((column) => book[column])),
  },
  json: {
    mediaType: 'application/json',
    head: '[',
    separator: ',',
    foot: '\n]\n',
    render: (book) => `\n${toJson(book)}`,
  },
  ndjson: {
    mediaType: 'application/x-ndjson',
    head: '',
    separator: '',
    foot: '',
    render: (book) => `${toJson(book)}\n`,
  },
};

function toJson(book: Book): string {
  return JSON.stringify({ id: book.id, ...fieldsOf(book) });
}

/** The media type of a format (RFC 7111, RFC 8259; the one of NDJSON is not registered). */
export function mediaTypeOf(format: Format): string {
  return RENDERINGS[format].mediaType;
}

/** Renders pages of books as the text of a file, a piece for each page. */
export async function* writeBooks(
  pages: AsyncIterable<readonly Book[]>,
  format: Format,
): AsyncGenerator<string, void> {
  const { head, separator, foot, render } = RENDERINGS[format];
  yield head;
  let prefix = '';
  for await (const books of pages) {
    if (books.length === 0) continue;
    yield prefix + books.map(render).join(separator);
    prefix = separator;
  }
  yield foot;
}

/** Renders a CSV record (RFC 4180). Texts that spreadsheet programs would run as formulas are escaped. */
function csvRecord(cells: readonly (string | number)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** Quotes a cell as RFC 4180 requires, and where some programs would trim it or detect another delimiter. */
function csvCell(cell: string | number): string {
  if (typeof cell === 'number') return String(cell);
  const text = escapeFormula(cell);
  return /[",;\t\r\n|]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
