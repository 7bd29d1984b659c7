import { type RawRow, ROW_BYTES_MAX } from './row.ts';

/** The delimiters of files, the usual one first. */
const DELIMITERS = [',', ';', '\t', '|'];

/**
 * Reads the records of CSV (RFC 4180), as leniently as spreadsheet programs do: with another delimiter, any line ends, and
 * quotes in cells that are not quoted. Records with nothing in them are left out, and so is Excel's first line `sep=;`.
 *
 * @param chunks UTF-8, without a byte-order mark
 * @yields the records of each chunk
 */
export async function* readCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<RawRow[]> {
  const parser = new CsvParser();
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const validator = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of chunks) {
    if (parser.isUtf8) parser.isUtf8 = isValid(() => validator.decode(chunk, { stream: true }));
    yield parser.parse(decoder.decode(chunk, { stream: true }), false);
    if (parser.isStuck) return;
  }
  if (parser.isUtf8) parser.isUtf8 = isValid(() => validator.decode());
  yield parser.parse(decoder.decode(), true);
}

function isValid(decode: () => string): boolean {
  try {
    decode();
    return true;
  } catch {
    return false;
  }
}

class CsvParser {
  /** Whether all bytes so far were UTF-8; a decoder puts U+FFFD in place of others. */
  isUtf8 = true;
  /** The text that no record has been made of begins at `#at`, which is in line `#line`. */
  #text = '';
  #at = 0;
  #line = 1;
  /** A character code; undefined before the first line is there. */
  #delimiter: number | undefined;

  /** Whether a record is so long that no more is read. */
  get isStuck(): boolean {
    return this.#text.length - this.#at > ROW_BYTES_MAX;
  }

  parse(text: string, isLast: boolean): RawRow[] {
    this.#text = this.#text.slice(this.#at) + text;
    this.#at = 0;
    const rows: RawRow[] = [];
    if (this.#delimiter === undefined && !this.#readDelimiter(isLast)) return rows;
    for (;;) {
      const line = this.#line;
      const cells = this.#readRecord(isLast);
      if (!cells) break;
      if (cells.every((cell) => cell === '')) continue;
      const isBroken = !this.isUtf8 && cells.some((cell) => cell.includes(REPLACEMENT));
      rows.push(isBroken ? { line, fault: { kind: 'not-utf8' } } : { line, cells });
    }
    if (this.isStuck) rows.push({ line: this.#line, fault: { kind: 'row-too-long' } });
    else if (isLast && this.#at < this.#text.length) {
      rows.push({ line: this.#line, fault: { kind: 'unclosed-quote' } });
    }
    return rows;
  }

  /** Takes Excel's declaration, or else the delimiter that the first line has most. @returns whether that line is there */
  #readDelimiter(isLast: boolean): boolean {
    const [, firstLine] = /^[\r\n]*([^\r\n]+)[\r\n]/.exec(isLast ? `${this.#text}\n` : this.#text) ?? [];
    if (firstLine === undefined) return isLast;
    const declared = /^"?sep=(.)"?$/i.exec(firstLine)?.[1];
    const unquoted = firstLine.replaceAll(/"[^"]*"/g, '');
    const counts = DELIMITERS.map((delimiter) => unquoted.split(delimiter).length);
    const delimiter = declared ?? DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
    this.#delimiter = delimiter.charCodeAt(0);
    if (declared === undefined) return true;
    // The declaration is read as a record, and dropped.
    let record = this.#readRecord(isLast);
    while (record?.join('') === '') record = this.#readRecord(isLast);
    if (!record) this.#delimiter = undefined;
    return record !== undefined;
  }

  /** The cells of the next record; undefined when its end is not there. */
  #readRecord(isLast: boolean): string[] | undefined {
    const text = this.#text;
    const cells: string[] = [];
    let breaks = 1;
    let at = this.#at;
    if (at === text.length) return undefined;
    for (;;) {
      const isQuoted = text.charCodeAt(at) === QUOTE;
      const close = isQuoted ? closingQuote(text, at) : at;
      if (close === -1) return undefined;
      const end = this.#endOfCell(isQuoted ? close + 1 : at);
      // What follows may be the second half of a line end, or of an escaped quote.
      if (end + 1 >= text.length && !isLast) return undefined;
      const isClosed = isQuoted && end === close + 1;
      const cell = isClosed ? text.slice(at + 1, close).replaceAll('""', '"') : text.slice(at, end);
      if (isQuoted) breaks += cell.match(LINE_END)?.length ?? 0;
      cells.push(cell);
      if (text.charCodeAt(end) === this.#delimiter) at = end + 1;
      else {
        const isPair = text.charCodeAt(end) === CARRIAGE_RETURN && text.charCodeAt(end + 1) === LINE_FEED;
        this.#at = Math.min(end + (isPair ? 2 : 1), text.length);
        this.#line += breaks;
        return cells;
      }
    }
  }

  /** Where the delimiter or the line end after `at` is, or the end of the text. */
  #endOfCell(at: number): number {
    const text = this.#text;
    let end = at;
    for (; end < text.length; end++) {
      const code = text.charCodeAt(end);
      if (code === this.#delimiter || code === LINE_FEED || code === CARRIAGE_RETURN) break;
    }
    return end;
  }
}

/** Where the quote closes that opens at `at`, or -1. */
function closingQuote(text: string, at: number): number {
  let close = text.indexOf('"', at + 1);
  while (close !== -1 && text.charCodeAt(close + 1) === QUOTE) close = text.indexOf('"', close + 2);
  return close;
}

const REPLACEMENT = '\uFFFD';
const LINE_END = /\r\n|\r|\n/g;
const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
