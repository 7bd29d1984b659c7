import { type ArrayFault, concat, type RawRow, ROW_BYTES_MAX } from './row.ts';

/**
 * Reads the elements of a JSON array (RFC 8259, section 5), so that one that is not JSON costs no other.
 *
 * @param chunks UTF-8, without a byte-order mark
 * @yields the elements of each chunk
 */
export async function* readJsonArray(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<RawRow[]> {
  const scanner = new ArrayScanner();
  let bytes: Uint8Array = new Uint8Array();
  let line = 1;
  let element = 1;
  const scan = (isLast: boolean): RawRow[] => {
    const rows: RawRow[] = [];
    let counted = 0;
    const lineAt = (at: number) => {
      line += lineFeedsIn(bytes.subarray(counted, at));
      counted = at;
      return line;
    };
    for (let json = scanner.next(bytes, isLast); json; json = scanner.next(bytes, isLast)) {
      rows.push({ line: lineAt(scanner.at - json.length), element: element++, json });
    }
    const kind = scanner.fault ?? (bytes.length - scanner.at > ROW_BYTES_MAX ? 'row-too-long' : undefined);
    lineAt(scanner.at);
    if (kind) rows.push({ line, element, fault: { kind } });
    bytes = bytes.subarray(scanner.at);
    scanner.at = 0;
    return rows;
  };

  for await (const chunk of chunks) {
    bytes = concat(bytes, chunk);
    const rows = scan(false);
    yield rows;
    if (rows.some((row) => 'fault' in row)) return;
  }
  yield scan(true);
}

function lineFeedsIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) count++;
  return count;
}

/** Finds the elements of a JSON array. Of an element only its end is searched; its reader decides whether it is JSON. */
export class ArrayScanner {
  /** The index in the bytes up to which they have been scanned. The caller resets it when it drops those bytes. */
  at = 0;
  /** Why there are no more elements; undefined while there may be, and after the end of the array. */
  fault: ArrayFault | undefined;
  #due: 'array' | 'first element' | 'element' | 'comma' | 'end of file' = 'array';

  /**
   * @param bytes what follows the bytes that have been dropped
   * @param isLast whether nothing follows them
   * @returns the next element; undefined when `bytes` has no further one
   */
  next(bytes: Uint8Array, isLast: boolean): Uint8Array | undefined {
    while (this.fault === undefined) {
      this.at = skipSpace(bytes, this.at);
      const byte = bytes[this.at];
      if (byte === undefined) {
        if (isLast && this.#due !== 'end of file')
          this.fault = this.#due === 'array' ? 'no-array' : 'cut-off';
        return undefined;
      }
      const isClosing = byte === CLOSING_BRACKET;
      if (this.#due === 'array') this.#expect(byte === OPENING_BRACKET, 'first element', 'no-array');
      else if (this.#due === 'end of file') this.fault = 'trailing';
      else if (isClosing) this.#expect(this.#due !== 'element', 'end of file', 'broken');
      else if (this.#due === 'comma') this.#expect(byte === COMMA, 'element', 'broken');
      else if (byte === COMMA) this.fault = 'broken';
      else {
        const end = endOfElement(bytes, this.at, isLast);
        if (end === undefined) {
          if (isLast) this.fault = 'cut-off';
          return undefined;
        }
        const element = bytes.subarray(this.at, end);
        this.at = end;
        this.#due = 'comma';
        return element;
      }
    }
    return undefined;
  }

  /** Passes one byte when it is the expected one. */
  #expect(isExpected: boolean, next: 'first element' | 'element' | 'end of file', fault: ArrayFault): void {
    if (!isExpected) {
      this.fault = fault;
      return;
    }
    this.at++;
    this.#due = next;
  }
}

/**
 * Where the element ends that begins at `at`: before a comma, a closing bracket or white space that does not belong to it;
 * undefined when its end is not there.
 */
function endOfElement(bytes: Uint8Array, at: number, isLast: boolean): number | undefined {
  let depth = 0;
  for (let end = at; end < bytes.length; end++) {
    const byte = bytes[end] as number;
    if (byte === QUOTE) {
      const close = endOfString(bytes, end);
      if (close === -1) return undefined;
      end = close;
    } else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) depth++;
    else if (depth === 0 && (byte === COMMA || byte === CLOSING_BRACKET || isSpace(byte))) return end;
    else if ((byte === CLOSING_BRACE || byte === CLOSING_BRACKET) && --depth <= 0) return end + 1;
  }
  return isLast && depth === 0 ? bytes.length : undefined;
}

/** Where the string that opens at `at` closes, or -1. */
function endOfString(bytes: Uint8Array, at: number): number {
  let end = bytes.indexOf(QUOTE, at + 1);
  while (end !== -1 && isEscaped(bytes, end)) end = bytes.indexOf(QUOTE, end + 1);
  return end;
}

/** Whether an odd number of backslashes is in front. */
function isEscaped(bytes: Uint8Array, at: number): boolean {
  let start = at;
  while (bytes[start - 1] === BACKSLASH) start--;
  return (at - start) % 2 === 1;
}

function skipSpace(bytes: Uint8Array, at: number): number {
  let end = at;
  while (isSpace(bytes[end])) end++;
  return end;
}

/** Whether a byte is white space of JSON (RFC 8259, section 2). */
export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === LINE_FEED || byte === 0x0d;
}

export const LINE_FEED = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
