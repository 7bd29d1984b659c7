/** Why nothing of a file can be read. */
export type FileProblem = 'workbook' | 'binary' | 'not-utf8' | 'no-array' | 'no-rows' | 'gone';

/** A file of which nothing can be read, or nothing more: it is of another kind, or was changed meanwhile. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';
  readonly problem: FileProblem;

  constructor(problem: FileProblem, options?: ErrorOptions) {
    super(`the file cannot be read (${problem})`, options);
    this.problem = problem;
  }
}

/** The bytes of a part of a file. @throws {UnreadableFileError} when it is no file, or has changed since it was chosen */
export async function bytesOf(part: Blob): Promise<ArrayBuffer> {
  try {
    return await part.arrayBuffer();
  } catch (error) {
    throw new UnreadableFileError('gone', { cause: error });
  }
}

/** Whether bytes begin with these. */
export function startsWith(bytes: Uint8Array, beginning: readonly number[]): boolean {
  return beginning.every((byte, index) => bytes[index] === byte);
}
