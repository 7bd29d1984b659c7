import { concat } from './row.ts';

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** The length of the longest byte-order mark. */
const BOM_BYTES = 3;

export function encodingOfBom([first, second, third]: Uint8Array): Encoding | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : undefined;
}

/** Converts a file to UTF-8 and removes its byte-order mark; without one it is in `encoding`. UTF-8 is not validated. */
export async function* toUtf8(
  chunks: AsyncIterable<Uint8Array>,
  encoding: Encoding = 'utf-8',
): AsyncGenerator<Uint8Array> {
  let start: Uint8Array | undefined = new Uint8Array();
  let decoder: TextDecoder | undefined;
  const encoder = new TextEncoder();
  const convert = (chunk: Uint8Array, isLast: boolean) => {
    let bytes = chunk;
    if (start) {
      bytes = concat(start, chunk);
      start = bytes.length < BOM_BYTES && !isLast ? bytes : undefined;
      if (start) return new Uint8Array();
      const marked = encodingOfBom(bytes);
      if (marked === 'utf-8') bytes = bytes.subarray(BOM_BYTES);
      else if ((marked ?? encoding) !== 'utf-8') decoder = new TextDecoder(marked ?? encoding);
    }
    return decoder ? encoder.encode(decoder.decode(bytes, { stream: !isLast })) : bytes;
  };
  for await (const chunk of chunks) yield convert(chunk, false);
  yield convert(new Uint8Array(), true);
}
