import { type Encoding, encodingOfBom } from '../../../../src/formats/encoding.ts';

/** The bytes that are parsed at a time. */
const CHUNK_BYTES = 64 * 1_024;

/** The bytes that are decoded at a time to detect the encoding, which takes some milliseconds. */
const DECODED_BYTES = 1_024 * 1_024;

/** The longest time that parsing blocks the page. */
const BLOCKING_MS_MAX = 8;

export type FileProblem = 'workbook' | 'binary' | 'not-utf8' | 'no-array' | 'no-rows' | 'unreadable';

/** The file cannot be read, or has changed since it was chosen. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';
  readonly problem: FileProblem;

  constructor(problem: FileProblem, options?: ErrorOptions) {
    super(`the file cannot be read (${problem})`, options);
    this.problem = problem;
  }
}

/** Part of a file. @throws {UnreadableFileError} when it is a folder, or has changed since it was chosen */
export async function bytesAt(file: Blob, start: number, length: number): Promise<Uint8Array> {
  try {
    return new Uint8Array(await file.slice(start, start + length).arrayBuffer());
  } catch (error) {
    throw new UnreadableFileError('unreadable', { cause: error });
  }
}

/** The bytes that are inspected to detect UTF-16 without a byte-order mark. */
const INSPECTED_BYTES = 4_096;

/**
 * Detects UTF-16: by its byte-order mark, or by zeros in one half of the bytes, those of characters before U+0100, of which
 * most texts have many, at least as delimiters and line ends.
 */
export function utf16Of(bytes: Uint8Array): Encoding | undefined {
  const marked = encodingOfBom(bytes);
  if (marked !== undefined) return marked === 'utf-8' ? undefined : marked;
  const zeros = [0, 0];
  for (const [index, byte] of bytes.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  if (bytes.length % 2 === 1) return undefined;
  const least = bytes.length / 20;
  if (even === 0 && odd > least) return 'utf-16le';
  return odd === 0 && even > least ? 'utf-16be' : undefined;
}

/**
 * Detects the encoding of a text file: UTF-16, see {@link utf16Of}; UTF-8 when all bytes are valid; else Windows-1252, in
 * which spreadsheet programs save CSV in western Europe and America.
 */
export async function encodingOf(file: Blob): Promise<Encoding> {
  const utf16 = utf16Of(await bytesAt(file, 0, INSPECTED_BYTES));
  if (utf16) return utf16;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let at = 0; at < file.size; at += DECODED_BYTES) {
    const chunk = await bytesAt(file, at, DECODED_BYTES);
    try {
      decoder.decode(chunk, { stream: at + DECODED_BYTES < file.size });
    } catch {
      return 'windows-1252';
    }
  }
  return 'utf-8';
}

/**
 * Reads a file in chunks, with pauses in which the page can respond.
 *
 * @param onProgress is called with the number of bytes that have been processed
 * @throws {UnreadableFileError} when the file has changed since it was chosen
 */
export async function* readChunks(
  file: Blob,
  onProgress: (bytes: number) => void = () => {},
): AsyncGenerator<Uint8Array, void> {
  let pauseAt = performance.now() + BLOCKING_MS_MAX;
  for (let at = 0; at < file.size; at += CHUNK_BYTES) {
    yield await bytesAt(file, at, CHUNK_BYTES);
    onProgress(Math.min(file.size, at + CHUNK_BYTES));
    if (performance.now() < pauseAt) continue;
    await new Promise((resolve) => setTimeout(resolve));
    pauseAt = performance.now() + BLOCKING_MS_MAX;
  }
}
