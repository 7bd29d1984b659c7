import { type RawRow, ROW_BYTES_MAX } from './row.ts';

const DELIMITERS = [',', ';', '\t', '|'];

/**
 * Reads CSV (RFC 4180) as leniently as spreadsheet programs: with other delimiters, any line endings, and quotes in unquoted
 * cells. Empty records are skipped, and so is Excel's first line `sep=;`.
 */
export async function* readCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<RawRow[]> {
  const parser = new CsvParser();
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const validator = new TextDecoder('utf-8', { fatal: true });
  const read = (chunk?: Uint8Array): RawRow[] => {
    const options = { stream: chunk !== undefined };
    try {
      if (parser.isUtf8) validator.decode(chunk, options);
    } catch {
      parser.isUtf8 = false;
    }
    return parser.parse(decoder.decode(chunk, options), chunk === undefined);
  };
  for await (const chunk of chunks) {
    yield read(chunk);
    if (parser.isTooLong) return;
  }
  yield read();
}

class CsvParser {
  /** Whether all bytes so far were UTF-8; decoding replaces others with U+FFFD. */
  isUtf8 = true;
  /** The text from `#at`, which is in line `#line`, has not been parsed. */
  #text = '';
  #at = 0;
  #line = 1;
  /** A character code; undefined before the first line has been read. */
  #delimiter: number | undefined;

  /** Whether a record exceeds the limit, which ends reading. */
  get isTooLong(): boolean {
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
      rows.push(isBroken ? { line, error: { kind: 'not-utf8' } } : { line, cells });
    }
    if (this.isTooLong) rows.push({ line: this.#line, error: { kind: 'row-too-long' } });
    else if (isLast && this.#at < this.#text.length) {
      rows.push({ line: this.#line, error: { kind: 'unclosed-quote' } });
    }
    return rows;
  }

  /** Excel's declaration, or else the most frequent one in the first line. @returns false when that line is incomplete */
  #readDelimiter(isLast: boolean): boolean {
    const [, firstLine] = /^[\r\n]*([^\r\n]+)[\r\n]/.exec(isLast ? `${this.#text}\n` : this.#text) ?? [];
    if (firstLine === undefined) return isLast;
    const declared = /^"?sep=(.)"?$/i.exec(firstLine)?.[1];
    const unquoted = firstLine.replaceAll(/"[^"]*"/g, '');
    const counts = DELIMITERS.map((delimiter) => unquoted.split(delimiter).length);
    const delimiter = declared ?? DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
    this.#delimiter = delimiter.charCodeAt(0);
    if (declared === undefined) return true;
    // The declaration is skipped like a record.
    let record = this.#readRecord(isLast);
    while (record?.join('') === '') record = this.#readRecord(isLast);
    if (!record) this.#delimiter = undefined;
    return record !== undefined;
  }

  /** The cells of the next record; undefined when it is incomplete. */
  #readRecord(isLast: boolean): string[] | undefined {
    const text = this.#text;
    const cells: string[] = [];
    let lines = 1;
    let at = this.#at;
    if (at === text.length) return undefined;
    for (;;) {
      const isQuoted = text.charCodeAt(at) === QUOTE;
      const close = isQuoted ? closingQuote(text, at) : at;
      if (close === -1) return undefined;
      const end = this.#endOfCell(isQuoted ? close + 1 : at);
      // The next character may belong to a line ending or to an escaped quote.
      if (end + 1 >= text.length && !isLast) return undefined;
      const isClosed = isQuoted && end === close + 1;
      const cell = isClosed ? text.slice(at + 1, close).replaceAll('""', '"') : text.slice(at, end);
      if (isQuoted) lines += cell.match(LINE_ENDING)?.length ?? 0;
      cells.push(cell);
      if (text.charCodeAt(end) === this.#delimiter) at = end + 1;
      else {
        const isPair = text.charCodeAt(end) === CARRIAGE_RETURN && text.charCodeAt(end + 1) === LINE_FEED;
        this.#at = Math.min(end + (isPair ? 2 : 1), text.length);
        this.#line += lines;
        return cells;
      }
    }
  }

  /** The index of the next delimiter or line ending, or the end of the text. */
  #endOfCell(at: number): number {
    const text = this.#text;
    for (let end = at; end < text.length; end++) {
      const code = text.charCodeAt(end);
      if (code === this.#delimiter || code === LINE_FEED || code === CARRIAGE_RETURN) return end;
    }
    return text.length;
  }
}

/** The index of the quote that closes the one at `at`, or -1. */
function closingQuote(text: string, at: number): number {
  let close = text.indexOf('"', at + 1);
  while (close !== -1 && text.charCodeAt(close + 1) === QUOTE) close = text.indexOf('"', close + 2);
  return close;
}

const REPLACEMENT = '\uFFFD';
const LINE_ENDING = /\r\n|\r|\n/g;
const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
