import type { Columns } from './columns.ts';
import { Pieces } from './pieces.ts';
import { jsonRowReader, type Row, TOO_LONG } from './row.ts';

/**
 * Reads a JSON array of objects (RFC 8259), element by element: of an element only its end is looked for before it is
 * read.
 *
 * @param chunks UTF-8, without a byte-order mark
 * @yields the rows of each chunk
 */
export async function* readJsonArray(
  chunks: AsyncIterable<Uint8Array>,
  columns: Columns,
): AsyncGenerator<Row[]> {
  const reading = new ArrayReading(columns);
  for await (const chunk of chunks) {
    const rows = reading.take(chunk);
    if (rows.length > 0) yield rows;
    if (reading.isBroken) return;
  }
  yield reading.end();
}

/** What is due next. */
type Due = 'array' | 'first element or end' | 'element' | 'rest of element' | 'comma or end' | 'nothing';

class ArrayReading {
  /** Whether what follows cannot be told apart any more. */
  isBroken = false;
  readonly #read: (bytes: Uint8Array, line: number) => Row;
  readonly #pieces = new Pieces();
  #rows: Row[] = [];
  #due: Due = 'array';
  #line = 1;
  /** Of the element: where it begins, how many objects and arrays are open in it, and whether a string is. */
  #firstLine = 1;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  constructor(columns: Columns) {
    this.#read = jsonRowReader(columns);
  }

  take(chunk: Uint8Array): Row[] {
    let at = 0;
    while (at < chunk.length && !this.isBroken) {
      at = this.#due === 'rest of element' ? this.#scanElement(chunk, at) : this.#scanBetween(chunk, at);
    }
    return this.#takeRows();
  }

  end(): Row[] {
    if (this.#due === 'rest of element') this.#takeElement();
    if (!this.isBroken && this.#due !== 'nothing') this.#break('the file ends before its array does');
    return this.#takeRows();
  }

  /** Looks at one byte outside of elements. @returns where to go on */
  #scanBetween(chunk: Uint8Array, at: number): number {
    const byte = chunk[at] as number;
    if (byte === LINE_FEED) this.#line++;
    if (isSpace(byte)) return at + 1;
    if (this.#due === 'array') {
      if (byte === OPENING_BRACKET) this.#due = 'first element or end';
      else this.#break('a JSON array must begin here; objects on lines of their own are --format ndjson');
      return at + 1;
    }
    if (byte === CLOSING_BRACKET && this.#due !== 'element' && this.#due !== 'nothing') {
      this.#due = 'nothing';
      return at + 1;
    }
    if (this.#due === 'comma or end' && byte === COMMA) {
      this.#due = 'element';
      return at + 1;
    }
    const mayBegin = this.#due === 'element' || this.#due === 'first element or end';
    if (mayBegin && byte !== COMMA && byte !== CLOSING_BRACKET) {
      this.#due = 'rest of element';
      this.#firstLine = this.#line;
      return at;
    }
    this.#break(this.#due === 'nothing' ? 'there is something behind the array' : 'the array is broken here');
    return at;
  }

  /** Looks for the end of an element. @returns where to go on */
  #scanElement(chunk: Uint8Array, start: number): number {
    for (let at = start; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (byte === LINE_FEED) this.#line++;
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#isInString = false;
      } else if (byte === QUOTE) this.#isInString = true;
      else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) this.#depth++;
      else if (this.#depth === 0) {
        if (byte === COMMA || byte === CLOSING_BRACKET || isSpace(byte)) {
          if (byte === LINE_FEED) this.#line--;
          this.#pieces.add(chunk.subarray(start, at));
          return this.#takeElement(at);
        }
      } else if ((byte === CLOSING_BRACE || byte === CLOSING_BRACKET) && --this.#depth === 0) {
        this.#pieces.add(chunk.subarray(start, at + 1));
        return this.#takeElement(at + 1);
      }
    }
    this.#pieces.add(chunk.subarray(start));
    return chunk.length;
  }

  #takeElement(end = 0): number {
    const { isTooLong } = this.#pieces;
    const bytes = this.#pieces.take();
    const line = this.#firstLine;
    this.#rows.push(isTooLong ? { line, fault: TOO_LONG } : this.#read(bytes, line));
    this.#due = 'comma or end';
    this.#depth = 0;
    return end;
  }

  #break(fault: string): void {
    this.isBroken = true;
    this.#rows.push({ line: this.#line, fault: `${fault}; the rest was not read` });
  }

  #takeRows(): Row[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === LINE_FEED || byte === 0x0d;
}

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
