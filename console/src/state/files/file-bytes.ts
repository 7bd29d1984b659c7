import type { ForeignKind } from 'bookkeeping-formats/file-kind.ts';

/** The bytes that are parsed at a time. */
const CHUNK_BYTES = 64 * 1_024;

/** The longest time that a long work blocks the page. */
const BLOCKING_MS_MAX = 8;

export type FileProblem = ForeignKind | 'no-array' | 'no-rows' | 'unreadable';

/** The file cannot be read, or has changed since it was chosen. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';
  readonly problem: FileProblem;
  /** What the file is instead, such as `PDF`. */
  readonly format: string;

  constructor(problem: FileProblem, format = '', options?: ErrorOptions) {
    super(`the file cannot be read (${problem})`, options);
    this.problem = problem;
    this.format = format;
  }
}

/** Part of a file. @throws {UnreadableFileError} when it is a folder, or has changed since it was chosen */
async function bytesAt(file: Blob, start: number, length: number): Promise<Uint8Array> {
  try {
    return new Uint8Array(await file.slice(start, start + length).arrayBuffer());
  } catch (error) {
    throw new UnreadableFileError('unreadable', '', { cause: error });
  }
}

/** @returns a function to call again and again in a long work: it pauses from time to time, so that the page can respond */
export function pauses(): () => Promise<void> {
  let pauseAt = performance.now() + BLOCKING_MS_MAX;
  return async () => {
    if (performance.now() < pauseAt) return;
    await new Promise((resolve) => setTimeout(resolve));
    pauseAt = performance.now() + BLOCKING_MS_MAX;
  };
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
  const pause = pauses();
  for (let at = 0; at < file.size; at += CHUNK_BYTES) {
    yield await bytesAt(file, at, CHUNK_BYTES);
    onProgress(Math.min(file.size, at + CHUNK_BYTES));
    await pause();
  }
}
