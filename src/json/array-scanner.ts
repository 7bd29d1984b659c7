/** The text has no array at its start, lacks an element, comma or bracket, ends within the array, or continues after it. */
export type ArrayError = 'no-array' | 'malformed' | 'truncated' | 'trailing';

/** Splits a JSON array into its elements, and does not validate them. */
export class ArrayScanner {
  /** The index of the first byte that has not been scanned. The caller resets it when it drops the bytes before. */
  at = 0;
  /** Undefined while there may be more elements, and after the end of the array. */
  error: ArrayError | undefined;
  #expected: 'array' | 'first element' | 'element' | 'comma' | 'end of file' = 'array';

  /** The next element in `bytes`, which follow the dropped ones. @param isLast whether nothing follows `bytes` */
  next(bytes: Uint8Array, isLast: boolean): Uint8Array | undefined {
    while (this.error === undefined) {
      let at = this.at;
      while (isSpace(bytes[at])) at++;
      this.at = at;
      const byte = bytes[at];
      if (byte === undefined) {
        if (isLast && this.#expected !== 'end of file')
          this.error = this.#expected === 'array' ? 'no-array' : 'truncated';
        return undefined;
      }
      const isClosing = byte === CLOSING_BRACKET;
      if (this.#expected === 'array') this.#skip(byte === OPENING_BRACKET, 'first element', 'no-array');
      else if (this.#expected === 'end of file') this.error = 'trailing';
      else if (isClosing) this.#skip(this.#expected !== 'element', 'end of file', 'malformed');
      else if (this.#expected === 'comma') this.#skip(byte === COMMA, 'element', 'malformed');
      else if (byte === COMMA) this.error = 'malformed';
      else {
        const end = endOfElement(bytes, at, isLast);
        if (end === undefined) {
          if (isLast) this.error = 'truncated';
          return undefined;
        }
        this.at = end;
        this.#expected = 'comma';
        return bytes.subarray(at, end);
      }
    }
    return undefined;
  }

  /** Skips one byte if it is the expected one. */
  #skip(isExpected: boolean, next: 'first element' | 'element' | 'end of file', error: ArrayError): void {
    if (isExpected) {
      this.at++;
      this.#expected = next;
    } else this.error = error;
  }
}

/** The end of the element at `at`: before a comma, a bracket or white space outside it; undefined if not in `bytes`. */
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

/** The index of the closing quote of the string that starts at `at`, or -1. */
function endOfString(bytes: Uint8Array, at: number): number {
  for (let end = bytes.indexOf(QUOTE, at + 1); ; end = bytes.indexOf(QUOTE, end + 1)) {
    let start = end;
    while (bytes[start - 1] === BACKSLASH) start--;
    // After an odd number of backslashes, the quote is escaped.
    if ((end - start) % 2 === 0) return end;
  }
}

/** Whether a byte is white space in JSON (RFC 8259, section 2). */
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
