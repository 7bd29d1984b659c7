/**
 * The elements of a JSON array (RFC 8259, section 5) as they are written, one after the other, so that nobody has to wait
 * until a long array is read as a whole. Of an element only its end is looked for: whether it is JSON, its reader says.
 *
 * @param bytes what may be an array
 * @returns the bytes of each element; undefined, and then nothing more, where an element, a comma or the end of the array
 *   is due and does not come
 */
export function* elementsOf(bytes: Uint8Array): Generator<Uint8Array | undefined, void> {
  if (!startsArray(bytes)) {
    yield undefined;
    return;
  }
  let at = skipSpace(bytes, bytes.indexOf(OPENING_BRACKET) + 1);
  let isDue = bytes[at] !== CLOSING_BRACKET;
  while (isDue) {
    const end = endOfElement(bytes, at);
    if (end > at) yield bytes.subarray(at, end);
    const behind = skipSpace(bytes, end);
    isDue = bytes[behind] === COMMA;
    if (end === at || (!isDue && bytes[behind] !== CLOSING_BRACKET)) {
      yield undefined;
      return;
    }
    at = isDue ? skipSpace(bytes, behind + 1) : behind;
  }
  if (skipSpace(bytes, at + 1) < bytes.length) yield undefined;
}

/** Whether bytes begin as an array. */
export function startsArray(bytes: Uint8Array): boolean {
  return bytes[skipSpace(bytes, 0)] === OPENING_BRACKET;
}

/** Where the element ends that begins at `at`: before a comma, a closing bracket or white space that is not its own. */
function endOfElement(bytes: Uint8Array, at: number): number {
  let depth = 0;
  for (let end = at; end < bytes.length; end++) {
    const byte = bytes[end] as number;
    if (byte === QUOTE) end = endOfString(bytes, end);
    else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) depth++;
    else if (depth === 0 && (byte === COMMA || byte === CLOSING_BRACKET || isSpace(byte))) return end;
    else if ((byte === CLOSING_BRACE || byte === CLOSING_BRACKET) && --depth <= 0) return end + 1;
  }
  return bytes.length;
}

/** Where the string that opens at `at` closes. */
function endOfString(bytes: Uint8Array, at: number): number {
  let end = bytes.indexOf(QUOTE, at + 1);
  while (end !== -1 && isEscaped(bytes, end)) end = bytes.indexOf(QUOTE, end + 1);
  return end === -1 ? bytes.length : end;
}

/** Whether an odd number of backslashes stands in front. */
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

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
