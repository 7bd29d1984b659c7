import { type Encoding, encodingOfMark, MARK_BYTES } from '../../../../src/formats/encoding.ts';
import { bytesOf } from './file-bytes.ts';

/** So much of a file is read and worked on at a time, … */
const CHUNK_BYTES = 64 * 1_024;

/** … and so much where it is only decoded: each takes some milliseconds. */
const DECODED_BYTES = 1_024 * 1_024;

/** After so long others get their turn: scrolling, typing, drawing. */
const TURN_MS = 8;

/**
 * Finds out how the text of a file is encoded: UTF-8 where its bytes can be that; UTF-16 where it says so, as the "Unicode
 * text" of spreadsheet programs does; else Windows-1252, in which they save CSV in western Europe and America.
 */
export async function encodingOf(file: Blob): Promise<Encoding> {
  const marked = encodingOfMark(await chunkAt(file, 0, MARK_BYTES));
  if (marked !== undefined && marked !== 'utf-8') return marked;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let at = 0; at < file.size; at += DECODED_BYTES) {
    const chunk = await chunkAt(file, at, DECODED_BYTES);
    try {
      decoder.decode(chunk, { stream: at + DECODED_BYTES < file.size });
    } catch {
      return 'windows-1252';
    }
  }
  return 'utf-8';
}

/**
 * Reads the bytes of a file, some at a time, so that work on them does not block the page for long.
 *
 * @param onProgress is called with the number of bytes that have been worked on
 * @throws {UnreadableFileError} when the file has changed since it was chosen
 */
export async function* readChunks(
  file: Blob,
  onProgress: (bytes: number) => void = () => {},
): AsyncGenerator<Uint8Array, void> {
  let turnEndsAt = performance.now() + TURN_MS;
  for (let at = 0; at < file.size; at += CHUNK_BYTES) {
    yield await chunkAt(file, at, CHUNK_BYTES);
    onProgress(Math.min(file.size, at + CHUNK_BYTES));
    if (performance.now() < turnEndsAt) continue;
    await new Promise((resolve) => setTimeout(resolve));
    turnEndsAt = performance.now() + TURN_MS;
  }
}

async function chunkAt(file: Blob, at: number, bytes: number): Promise<Uint8Array> {
  return new Uint8Array(await bytesOf(file.slice(at, at + bytes)));
}
