import { endOfString, isClosing, isOpening, QUOTE } from './characters.ts';

/** How deep arrays and objects may be nested: `{"a":[[1]]}` has a depth of 3. */
export const DEPTH_MAX = 64;

/** A shorter text is not both deeper and valid. */
const DEEP_BYTES_MIN = 2 * (DEPTH_MAX + 1);

/** A JSON text and its value. */
interface ParsedJson {
  readonly text: string;
  readonly value: unknown;
}

/** Why bytes are not parsed: they are nested deeper than {@link DEPTH_MAX}, not UTF-8, or not JSON. */
export type JsonError = 'too-deep' | 'not-utf8' | 'not-json';

/**
 * Parses JSON (RFC 8259) of a client; nothing else does. A deep text is not parsed: of nested arrays, `JSON.parse` takes some 50 times
 * their length in memory, and blocks the event loop for 30 to 350 ms a mebibyte. A byte-order mark is not JSON.
 */
export function parseJson(bytes: Uint8Array): ParsedJson | JsonError {
  if (isTooDeep(bytes)) return 'too-deep';
  try {
    const text = utf8.decode(bytes);
    return { text, value: JSON.parse(text) };
  } catch (error) {
    return error instanceof SyntaxError ? 'not-json' : 'not-utf8';
  }
}

/** Whether a text is nested deeper than {@link DEPTH_MAX}, before its first syntax error, at which `JSON.parse` stops. */
function isTooDeep(bytes: Uint8Array): boolean {
  if (bytes.length < DEEP_BYTES_MIN) return false;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
      if (at === -1) return false;
    } else if (isOpening(byte)) {
      if (++depth > DEPTH_MAX) return true;
    } else if (isClosing(byte)) depth--;
  }
  return false;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
