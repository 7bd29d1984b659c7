import { concat } from './chunks.ts';

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** The bytes at the beginning that are inspected for UTF-16, and for the kind of the file. */
export const INSPECTED_BYTES = 4_096;

/** The bytes from the first letter that is not ASCII on, which decide between UTF-8 and Windows-1252. */
const DECIDING_BYTES = 64 * 1_024;

/** How many times as many zeros one half of UTF-16 has than the other. */
const ZEROS_RATIO = 10;

function encodingOfBom([first, second, third]: Uint8Array): Encoding | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : undefined;
}

/**
 * Detects UTF-16: by its byte-order mark, or by zeros in one half of the bytes, those of characters before U+0100, of which
 * most texts have many, at least as delimiters and line ends.
 *
 * @param start the first {@link INSPECTED_BYTES} of a file, or all of it
 */
export function utf16Of(start: Uint8Array): Encoding | undefined {
  const marked = encodingOfBom(start);
  if (marked !== undefined) return marked === 'utf-8' ? undefined : marked;
  const zeros = [0, 0];
  for (const [index, byte] of start.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const least = start.length / 20;
  // A few other characters have a zero in the other half, such as U+2000 and the second half of 😀.
  if (odd > least && odd >= even * ZEROS_RATIO) return 'utf-16le';
  return even > least && even >= odd * ZEROS_RATIO ? 'utf-16be' : undefined;
}

/**
 * Converts a text file to UTF-8 and removes its byte-order mark. The text is UTF-16 according to {@link utf16Of}, or else UTF-8;
 * or Windows-1252, in which spreadsheet programs save CSV in western Europe and America, if the first letters that are not
 * ASCII are UTF-8 less often than not. UTF-8 is not validated.
 *
 * @param onEncoding is called when the encoding has been found; never for plain ASCII
 */
export async function* toUtf8(
  chunks: AsyncIterable<Uint8Array>,
  onEncoding: (encoding: Encoding) => void = () => {},
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let pending: Uint8Array = new Uint8Array();
  let phase: 'start' | 'ascii' | 'deciding' | 'found' = 'start';
  let decoder: TextDecoder | undefined;
  const found = (encoding: Encoding) => {
    phase = 'found';
    if (encoding !== 'utf-8') decoder = new TextDecoder(encoding);
    onEncoding(encoding);
  };
  const convert = (chunk: Uint8Array, isLast: boolean): Uint8Array => {
    let bytes = concat(pending, chunk);
    pending = new Uint8Array();
    if (phase === 'start') {
      if (bytes.length < INSPECTED_BYTES && !isLast) return hold(bytes);
      phase = 'ascii';
      const utf16 = utf16Of(bytes.subarray(0, INSPECTED_BYTES));
      if (utf16) found(utf16);
      else if (encodingOfBom(bytes) === 'utf-8') {
        bytes = bytes.subarray(BOM_BYTES);
        found('utf-8');
      }
    }
    if (phase === 'ascii' || phase === 'deciding') {
      const first = firstBeyondAscii(bytes);
      if (first === bytes.length) return bytes;
      if (bytes.length - first < DECIDING_BYTES && !isLast) {
        phase = 'deciding';
        return hold(bytes);
      }
      found(isMostlyUtf8(bytes.subarray(first, first + DECIDING_BYTES)) ? 'utf-8' : 'windows-1252');
    }
    return decoder ? encoder.encode(decoder.decode(bytes, { stream: !isLast })) : bytes;
  };
  const hold = (bytes: Uint8Array) => {
    pending = bytes;
    return new Uint8Array();
  };
  for await (const chunk of chunks) yield convert(chunk, false);
  yield convert(new Uint8Array(), true);
}

const BOM_BYTES = 3;

function firstBeyondAscii(bytes: Uint8Array): number {
  for (let at = 0; at < bytes.length; at++) if ((bytes[at] as number) > 0x7f) return at;
  return bytes.length;
}

/** Whether bytes are UTF-8; the last character may be incomplete. */
export function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether bytes are text in another encoding than UTF-8 and Windows-1252: they have bytes that Windows-1252 does not have, as Shift-JIS
 * and Mac OS Roman do, or most of their letters beyond ASCII are in a row, as in Windows-1251, GBK and Big5. Texts of western Europe have
 * them between others.
 */
export function isForeignText(bytes: Uint8Array): boolean {
  if (isMostlyUtf8(bytes)) return false;
  const latin1 = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  if (UNDEFINED_BYTE.test(latin1)) return true;
  const inRows = (latin1.match(LETTERS_IN_A_ROW) ?? []).join('').length;
  return inRows * 2 > (latin1.match(LETTER_BYTE)?.length ?? 0);
}

/** The bytes without a character in Windows-1252. */
const UNDEFINED_BYTE = /[\x81\x8d\x8f\x90\x9d]/;
const LETTER_BYTE = /[\xa1-\xff]/g;
const LETTERS_IN_A_ROW = /[\xa1-\xff]{3,}/g;

/** Whether at least half of what is not ASCII is valid UTF-8: a file may have single broken letters. */
function isMostlyUtf8(bytes: Uint8Array): boolean {
  if (isUtf8(bytes)) return true;
  const text = new TextDecoder('utf-8').decode(bytes, { stream: true });
  const letters = text.match(/\P{ASCII}/gu) ?? [];
  const broken = letters.filter((letter) => letter === '\uFFFD').length;
  return broken * 2 <= letters.length;
}
