import {
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  endOfString,
  isClosing,
  isOpening,
  isSpace,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
} from './characters.ts';

/** The text has no array at its start, lacks an element, comma or bracket, ends within the array, or continues after it. */
export type ArrayError = 'no-array' | 'malformed' | 'truncated' | 'trailing';

/** What is scanned: an array; the values of an object, without their names; or values that only white space separates. */
export type Scanned = 'array' | 'object' | 'sequence';

/** Splits a JSON array, or another sequence of values, into its elements, and does not validate them. */
export class ArrayScanner {
  /** The index of the first byte that has not been scanned. The caller resets it when it drops the bytes before. */
  at = 0;
  /** Undefined while there may be more elements, and after the end of the array. */
  error: ArrayError | undefined;
  readonly #scanned: Scanned;
  #expected: 'array' | 'first element' | 'element' | 'comma' | 'end of file';

  constructor(scanned: Scanned = 'array') {
    this.#scanned = scanned;
    this.#expected = scanned === 'sequence' ? 'element' : 'array';
  }

  /** Whether the array has ended. */
  get isOver(): boolean {
    return this.#expected === 'end of file';
  }

  /** The next element in `bytes`, which follow the dropped ones. @param isLast whether nothing follows `bytes` */
  next(bytes: Uint8Array, isLast: boolean): Uint8Array | undefined {
    while (this.error === undefined) {
      let at = this.at;
      while (isSpace(bytes[at])) at++;
      this.at = at;
      const byte = bytes[at];
      if (byte === undefined) {
        if (isLast && this.#expected !== 'end of file' && this.#scanned !== 'sequence')
          this.error = this.#expected === 'array' ? 'no-array' : 'truncated';
        return undefined;
      }
      const [opening, closing] = this.#scanned === 'object' ? BRACES : BRACKETS;
      if (this.#expected === 'array') this.#skip(byte === opening, 'first element', 'no-array');
      else if (this.#expected === 'end of file') this.error = 'trailing';
      else if (byte === closing && this.#scanned !== 'sequence')
        this.#skip(this.#expected !== 'element', 'end of file', 'malformed');
      else if (this.#expected === 'comma') this.#skip(byte === COMMA, 'element', 'malformed');
      else if (byte === COMMA) this.error = 'malformed';
      else {
        const start = this.#scanned === 'object' ? startOfValue(bytes, at) : at;
        const end = start === undefined ? undefined : endOfElement(bytes, start, isLast);
        if (start === undefined || end === undefined) {
          if (isLast) this.error = 'truncated';
          return undefined;
        }
        this.at = end;
        this.#expected = this.#scanned === 'sequence' ? 'element' : 'comma';
        return bytes.subarray(start, end);
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

/** The index of the value of the member at `at`; undefined if not in `bytes`, and `at` if there is no name with a colon. */
export function startOfValue(bytes: Uint8Array, at: number): number | undefined {
  if (bytes[at] !== QUOTE) return at;
  let start = endOfString(bytes, at);
  if (start === -1) return undefined;
  do start++;
  while (isSpace(bytes[start]));
  if (bytes[start] !== COLON) return start < bytes.length ? at : undefined;
  do start++;
  while (isSpace(bytes[start]));
  return start < bytes.length ? start : undefined;
}

/** The end of the element at `at`: before a comma, a bracket or white space outside it; undefined if not in `bytes`. */
export function endOfElement(bytes: Uint8Array, at: number, isLast: boolean): number | undefined {
  let depth = 0;
  for (let end = at; end < bytes.length; end++) {
    const byte = bytes[end] as number;
    if (byte === QUOTE) {
      const close = endOfString(bytes, end);
      if (close === -1) return undefined;
      end = close;
    } else if (isOpening(byte)) depth++;
    else if (depth === 0 && (byte === COMMA || byte === CLOSING_BRACKET || isSpace(byte))) return end;
    else if (isClosing(byte) && --depth <= 0) return end + 1;
  }
  return isLast && depth === 0 ? bytes.length : undefined;
}

const BRACKETS = [OPENING_BRACKET, CLOSING_BRACKET] as const;
const BRACES = [OPENING_BRACE, CLOSING_BRACE] as const;
