import { concat } from './row.ts';

/** How the text of a file is encoded. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** The bytes of the longest byte-order mark. */
export const MARK_BYTES = 3;

/** The encoding that a byte-order mark at the beginning of a file stands for, or undefined when there is none. */
export function encodingOfMark([first, second, third]: Uint8Array): Encoding | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : undefined;
}

/**
 * Makes UTF-8 of the bytes of a file. A byte-order mark decides the encoding, and is removed.
 *
 * @param encoding of a file without a byte-order mark; UTF-8 is not validated
 */
export async function* toUtf8(
  chunks: AsyncIterable<Uint8Array>,
  encoding: Encoding = 'utf-8',
): AsyncGenerator<Uint8Array> {
  let beginning: Uint8Array | undefined = new Uint8Array();
  let decoder: TextDecoder | undefined;
  const encoder = new TextEncoder();
  const begin = (bytes: Uint8Array) => {
    beginning = undefined;
    const mark = encodingOfMark(bytes);
    const used = mark ?? encoding;
    if (used !== 'utf-8') decoder = new TextDecoder(used);
    return mark === 'utf-8' ? bytes.subarray(MARK_BYTES) : bytes;
  };
  const convert = (bytes: Uint8Array) =>
    decoder ? encoder.encode(decoder.decode(bytes, { stream: true })) : bytes;

  for await (const chunk of chunks) {
    if (!beginning) yield convert(chunk);
    else {
      beginning = concat(beginning, chunk);
      if (beginning.length >= MARK_BYTES) yield convert(begin(beginning));
    }
  }
  if (beginning) yield convert(begin(beginning));
  if (decoder) yield encoder.encode(decoder.decode());
}
