import { type RawRow, ROW_BYTES_MAX } from './row.ts';

/** Of several that are equally frequent in the first line, the first: names have commas in them more often than the others. */
const DELIMITERS = [';', '|', ','];

/**
 * Reads CSV (RFC 4180) as leniently as spreadsheet programs: with other delimiters, any line endings, blanks around quoted
 * cells, and quotes in unquoted cells. A record whose quotes are not clear in that way is read with backslashes before quotes,
 * as MySQL writes them, or, between tabs, without quoting, as LibraryThing does, if this gives it as many cells as the first
 * record. Otherwise it is an error, and reading continues with the next line: no quote can hide the lines after it.
 *
 * Records of nothing but blanks are skipped, and so is Excel's first line `sep=;`.
 */
export async function* readCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<RawRow[]> {
  const parser = new CsvParser();
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const validator = new TextDecoder('utf-8', { fatal: true });
  const decode = (chunk?: Uint8Array): string => {
    const options = { stream: chunk !== undefined };
    try {
      if (parser.isUtf8) validator.decode(chunk, options);
    } catch {
      parser.isUtf8 = false;
    }
    return decoder.decode(chunk, options);
  };
  for await (const chunk of chunks) {
    yield* parser.parse(decode(chunk), false);
    if (parser.isTooLong) return;
  }
  yield* parser.parse(decode(), true);
}

/** The rows that are yielded at once: an unclosed quote may make many wait. */
const BATCH_ROWS = 10_000;

class CsvParser {
  /** Whether all bytes so far were UTF-8; decoding replaces others with U+FFFD. */
  isUtf8 = true;
  /** The text from `#at`, which is in line `#line`, has not been parsed. */
  #text = '';
  #at = 0;
  #line = 1;
  /** A character code; undefined before the first line has been read. */
  #delimiter: number | undefined;
  /** The number of cells of the first record. */
  #expected: number | undefined;
  /** The index after a quote that closed no cell: a line that begins before it may be the rest of an unclear record. */
  #doubtfulUntil = 0;
  /** The same in the record that is being read. */
  #misplacedQuote = 0;

  /** Whether a record exceeds the limit, which ends reading. */
  get isTooLong(): boolean {
    return this.#text.length - this.#at > ROW_BYTES_MAX;
  }

  *parse(text: string, isLast: boolean): Generator<RawRow[]> {
    this.#text = this.#text.slice(this.#at) + text;
    this.#doubtfulUntil -= this.#at;
    this.#at = 0;
    if (this.#delimiter === undefined && !this.#readDelimiter(isLast)) return;
    let rows: RawRow[] = [];
    for (let row = this.#next(isLast); row; row = this.#next(isLast)) {
      rows.push(row);
      if (rows.length < BATCH_ROWS) continue;
      yield rows;
      rows = [];
    }
    if (this.isTooLong) rows.push({ line: this.#line, error: { kind: 'row-too-long' } });
    yield rows;
  }

  /** The next row that is not empty; undefined when it is incomplete. */
  #next(isLast: boolean): RawRow | undefined {
    for (;;) {
      const line = this.#line;
      const record = this.#readRecord(isLast);
      if (!record) return undefined;
      this.#at = record.end;
      this.#line += record.lines;
      const { cells } = record;
      if (!cells) return { line, error: { kind: 'unclear-quote' } };
      if (cells.every((cell) => cell.trim() === '')) continue;
      this.#expected ??= cells.length;
      const isBroken = !this.isUtf8 && cells.some((cell) => cell.includes(REPLACEMENT));
      return isBroken ? { line, error: { kind: 'not-utf8' } } : { line, cells };
    }
  }

  /** Reads the first line, which Excel's declaration of the delimiter may be. @returns false when it is incomplete */
  #readDelimiter(isLast: boolean): boolean {
    const start = this.#text.search(/[^\r\n]/);
    if (start === -1) return isLast;
    const end = this.#endOfCell(start, NONE);
    if (end + 1 >= this.#text.length && !isLast) return false;
    const line = this.#text.slice(start, end);
    const declared = /^"?sep=(.)"?\1*$/i.exec(line)?.[1];
    this.#delimiter = (declared ?? delimiterOf(line)).charCodeAt(0);
    if (declared !== undefined) {
      this.#at = this.#afterLineEnding(end);
      this.#line += countLines(this.#text.slice(0, this.#at));
    }
    return true;
  }

  /** The next record, without cells when its quotes are unclear; undefined when it is incomplete. */
  #readRecord(isLast: boolean): ReadRecord | UnclearRecord | undefined {
    if (this.#at === this.#text.length) return undefined;
    const isWhole = isLast || this.isTooLong;
    this.#misplacedQuote = 0;
    const plain = this.#scan(DOUBLED, isLast);
    if (plain === 'incomplete' && !isWhole) return undefined;
    const isClear = typeof plain === 'object' && (!plain.hasQuoted || this.#fits(plain));
    if (isClear && !this.#isTableOfLines(plain)) return plain;
    const escaped = this.#scan(ESCAPED, isLast);
    if (escaped === 'incomplete' && !isWhole) return undefined;
    if (typeof escaped === 'object' && escaped.hasEscaped && this.#fits(escaped)) return escaped;
    const literal = this.#delimiter === TAB ? this.#scan(LITERAL, isLast) : undefined;
    if (typeof literal === 'object' && (this.#fits(literal) || typeof plain !== 'object')) return literal;
    if (typeof plain === 'object') return plain;
    const end = this.#endOfCell(this.#at, NONE);
    if (end + 1 >= this.#text.length && !isLast) return undefined;
    this.#doubtfulUntil = Math.max(this.#doubtfulUntil, this.#misplacedQuote);
    return { cells: undefined, end: this.#afterLineEnding(end), lines: 1 };
  }

  /** Whether each line of a record between tabs has as many cells as the first record, if its quotes are read as text. */
  #isTableOfLines({ end, lines }: ReadRecord): boolean {
    if (lines === 1 || this.#delimiter !== TAB) return false;
    const text = this.#text.slice(this.#at, end).replace(/[\r\n]+$/, '');
    return text.split(LINE_ENDING).every((line) => line.split('\t').length === this.#expected);
  }

  #fits({ cells }: ReadRecord): boolean {
    const expected = this.#expected ?? cells.length;
    return cells.length === expected || (cells.length > expected && cells.slice(expected).join('') === '');
  }

  /** Reads the next record in a dialect; it is incomplete if it may go on after the text. */
  #scan(dialect: Dialect, isLast: boolean): ReadRecord | 'incomplete' | 'unclear' {
    const text = this.#text;
    const cells: string[] = [];
    let lines = 1;
    let hasQuoted = false;
    let hasEscaped = false;
    let at = this.#at;
    for (;;) {
      let end = -1;
      const open = dialect === LITERAL ? -1 : this.#openingQuote(at);
      if (open >= 0) {
        const close = closingQuote(text, open, dialect);
        end = close === -1 ? -1 : this.#skipBlanks(close + 1);
        // The next character may belong to a line ending or to an escaped quote.
        if (close === -1 ? !isLast && !this.isTooLong : end + 1 >= text.length && !isLast)
          return 'incomplete';
        const isClosed = close !== -1 && this.#isEndOfCell(end);
        if (isClosed) {
          const value = text.slice(open + 1, close);
          lines += countLines(value);
          hasQuoted = true;
          hasEscaped ||= dialect === ESCAPED && value.includes('\\"');
          cells.push(
            dialect === ESCAPED
              ? value.replaceAll(/\\(["\\\r\n])|""/g, (_, next) => next ?? '"')
              : value.replaceAll('""', '"'),
          );
        } else if (open > at) end = -1;
        else {
          this.#misplacedQuote = Math.max(this.#misplacedQuote, close + 1);
          return 'unclear';
        }
      }
      if (end === -1) {
        end = this.#endOfCell(at);
        if (end + 1 >= text.length && !isLast) return 'incomplete';
        const value = text.slice(at, end);
        if (at < this.#doubtfulUntil && dialect !== LITERAL && value.includes('"')) return 'unclear';
        cells.push(value);
      }
      if (text.charCodeAt(end) === this.#delimiter) at = end + 1;
      else return { cells, end: this.#afterLineEnding(end), lines, hasQuoted, hasEscaped };
    }
  }

  /** The index of the quote with which the cell begins, after blanks; or -1. */
  #openingQuote(at: number): number {
    const text = this.#text;
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (!isBlank(code)) return -1;
    const open = this.#skipBlanks(at);
    return text.charCodeAt(open) === QUOTE ? open : -1;
  }

  #skipBlanks(at: number): number {
    let end = at;
    for (let code = this.#text.charCodeAt(end); isBlank(code); code = this.#text.charCodeAt(++end)) {
      if (code === this.#delimiter) break;
    }
    return end;
  }

  #isEndOfCell(at: number): boolean {
    const code = this.#text.charCodeAt(at);
    return (
      at >= this.#text.length || code === this.#delimiter || code === LINE_FEED || code === CARRIAGE_RETURN
    );
  }

  /** The index of the next delimiter or line ending, or the end of the text. */
  #endOfCell(at: number, delimiter = this.#delimiter): number {
    const text = this.#text;
    for (let end = at; end < text.length; end++) {
      const code = text.charCodeAt(end);
      if (code === delimiter || code === LINE_FEED || code === CARRIAGE_RETURN) return end;
    }
    return text.length;
  }

  #afterLineEnding(end: number): number {
    const isPair =
      this.#text.charCodeAt(end) === CARRIAGE_RETURN && this.#text.charCodeAt(end + 1) === LINE_FEED;
    return Math.min(end + (isPair ? 2 : 1), this.#text.length);
  }
}

interface ReadRecord {
  readonly cells: readonly string[];
  readonly end: number;
  /** The number of lines that it has. */
  readonly lines: number;
  readonly hasQuoted: boolean;
  readonly hasEscaped: boolean;
}

interface UnclearRecord {
  readonly cells: undefined;
  readonly end: number;
  readonly lines: number;
}

/** How a quote is written in a quoted cell: doubled, or also after a backslash; or no cell is quoted. */
type Dialect = typeof DOUBLED | typeof ESCAPED | typeof LITERAL;
const DOUBLED = 0;
const ESCAPED = 1;
const LITERAL = 2;

/** A tab, which no name has in it, or else the most frequent delimiter of a line outside quotes and parentheses. */
function delimiterOf(line: string): string {
  const unquoted = line.replaceAll(/"[^"]*"|\([^()]*\)/g, '');
  if (unquoted.includes('\t')) return '\t';
  const counts = DELIMITERS.map((delimiter) => unquoted.split(delimiter).length - 1);
  const most = Math.max(...counts);
  return DELIMITERS.find((_, index) => most > 0 && counts[index] === most) ?? ',';
}

/** The index of the quote that closes the one at `at`, or -1. */
function closingQuote(text: string, at: number, dialect: Dialect): number {
  let close = text.indexOf('"', at + 1);
  while (close !== -1) {
    if (dialect === ESCAPED && isEscaped(text, close, at)) close = text.indexOf('"', close + 1);
    else if (text.charCodeAt(close + 1) === QUOTE) close = text.indexOf('"', close + 2);
    else return close;
  }
  return -1;
}

/** Whether a quote follows an odd number of backslashes, after the opening quote. */
function isEscaped(text: string, at: number, open: number): boolean {
  let start = at;
  while (start - 1 > open && text.charCodeAt(start - 1) === BACKSLASH) start--;
  return (at - start) % 2 === 1;
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB || code === NO_BREAK_SPACE;
}

function countLines(text: string): number {
  return text.match(LINE_ENDING)?.length ?? 0;
}

const REPLACEMENT = '\uFFFD';
const LINE_ENDING = /\r\n|\r|\n/g;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const TAB = 0x09;
const SPACE = 0x20;
const NO_BREAK_SPACE = 0xa0;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** No character code. */
const NONE = -1;
