import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import { CommandError } from '../command.ts';
import { STANDARD_STREAM } from './format.ts';

const CHUNK_BYTES = 64 * 1_024;

/** A file, or standard input; it can be read once. */
export class InputFile {
  readonly #path: string;
  /** In bytes; undefined when it is unknown. */
  readonly #size: number | undefined;
  #bytesRead = 0;

  private constructor(path: string, size: number | undefined) {
    this.#path = path;
    this.#size = size;
  }

  /** @throws CommandError when there is no such file */
  static async open(path: string): Promise<InputFile> {
    if (path === STANDARD_STREAM) return new InputFile(path, undefined);
    try {
      const status = await stat(path);
      if (status.isDirectory()) throw new CommandError(`${path} is a directory`);
      return new InputFile(path, status.isFile() ? status.size : undefined);
    } catch (error) {
      throw toFailure(error, path);
    }
  }

  /** The fraction of the file that has been read, from 0 to 1; undefined when it is unknown. */
  get fractionRead(): number | undefined {
    return this.#size ? Math.min(this.#bytesRead / this.#size, 1) : undefined;
  }

  /**
   * All bytes.
   *
   * @throws CommandError when the file cannot be read; AbortError when the signal is aborted
   */
  async *chunks(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const isStandard = this.#path === STANDARD_STREAM;
    const stream: Readable = isStandard
      ? process.stdin
      : createReadStream(this.#path, { highWaterMark: CHUNK_BYTES });
    addAbortSignal(signal, stream);
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        this.#bytesRead += chunk.length;
        yield chunk;
      }
    } catch (error) {
      throw signal.aborted ? error : toFailure(error, this.#path);
    }
  }
}

function toFailure(error: unknown, path: string): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  return new CommandError(
    `${path === STANDARD_STREAM ? 'standard input' : path} cannot be read (${String(error.code)})`,
  );
}
