import { bytesOf, startsWith, UnreadableFileError } from './file-bytes.ts';

/** How the text of a file is written in bytes. */
export type Encoding = 'utf-8' | 'utf-16le' | 'windows-1252';

/** So much of a file is read and worked on at a time, … */
const PIECE_BYTES = 64 * 1_024;

/** … and so much where it is only decoded: each takes some milliseconds. */
const DECODED_BYTES = 1_024 * 1_024;

/** After so long others get their turn: scrolling, typing, drawing. */
const TURN_MS = 8;

/**
 * Finds out how the text of a file is encoded: UTF-8 where its bytes can be that; UTF-16 where it says so, as the "Unicode
 * text" of spreadsheet programs does; else Windows-1252, in which they save CSV in western Europe and America.
 */
export async function encodingOf(file: Blob): Promise<Encoding> {
  const bom = new Uint8Array(await bytesOf(file.slice(0, 2)));
  if (startsWith(bom, [0xff, 0xfe])) return 'utf-16le';
  try {
    for await (const _ of piecesOf(file, 'utf-8', DECODED_BYTES));
    return 'utf-8';
  } catch (error) {
    if (error instanceof UnreadableFileError && error.problem === 'not-utf8') return 'windows-1252';
    throw error;
  }
}

/**
 * Reads the text of a file, piece by piece, without a byte-order mark. Whoever works on the pieces holds up nobody for long.
 *
 * @param onProgress is told how many bytes have been worked on
 * @throws {UnreadableFileError} where the bytes are not text of this encoding, or cannot be had any more
 */
export async function* readText(
  file: Blob,
  encoding: Encoding,
  onProgress: (bytes: number) => void = () => {},
): AsyncGenerator<string, void> {
  let bytes = 0;
  let turnEndsAt = performance.now() + TURN_MS;
  for await (const piece of piecesOf(file, encoding, PIECE_BYTES)) {
    yield piece;
    bytes = Math.min(file.size, bytes + PIECE_BYTES);
    onProgress(bytes);
    if (performance.now() < turnEndsAt) continue;
    await new Promise((resolve) => setTimeout(resolve));
    turnEndsAt = performance.now() + TURN_MS;
  }
}

async function* piecesOf(file: Blob, encoding: Encoding, pieceBytes: number): AsyncGenerator<string, void> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  for (let at = 0; at < file.size; at += pieceBytes) {
    const bytes = await bytesOf(file.slice(at, at + pieceBytes));
    try {
      yield decoder.decode(bytes, { stream: at + pieceBytes < file.size });
    } catch (error) {
      throw new UnreadableFileError('not-utf8', { cause: error });
    }
  }
}
