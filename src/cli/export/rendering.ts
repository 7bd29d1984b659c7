import type { Book } from '../../book.ts';
import type { Format } from '../format.ts';

/** How books are written. */
export interface Rendering {
  /** What stands at the beginning, between two books, behind the last one where there is any, and at the end. */
  readonly head: string;
  readonly separator: string;
  readonly terminator: string;
  readonly foot: string;
  readonly render: (book: Book) => string;
}

/** The formats, as `import` reads them. */
export const RENDERINGS: Readonly<Record<Format, Rendering>> = {
  // Lines end as RFC 4180 wants it.
  csv: {
    head: 'id,title,author,year\r\n',
    separator: '\r\n',
    terminator: '\r\n',
    foot: '',
    render: renderCsv,
  },
  json: { head: '[\n', separator: ',\n', terminator: '\n', foot: ']\n', render: renderJson },
  ndjson: { head: '', separator: '\n', terminator: '\n', foot: '', render: renderJson },
};

function renderJson({ id, title, author, year }: Book): string {
  return JSON.stringify({ id, title, author, year });
}

function renderCsv({ id, title, author, year }: Book): string {
  return `${id},${quote(title)},${quote(author)},${year}`;
}

/** A text in quotes where it needs them (RFC 4180, section 2), and where some readers would cut its spaces. */
function quote(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
