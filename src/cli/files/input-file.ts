import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import { CommandFailed } from '../exit.ts';
import { STANDARD_STREAM } from './format.ts';

const CHUNK_BYTES = 64 * 1_024;

/** A file, or standard input, that is read once. */
export class Source {
  readonly #path: string;
  /** The length of the file in bytes; undefined where nobody knows it. */
  readonly #size: number | undefined;
  #bytesRead = 0;

  private constructor(path: string, size: number | undefined) {
    this.#path = path;
    this.#size = size;
  }

  /** @throws CommandFailed when there is no such file */
  static async open(path: string): Promise<Source> {
    if (path === STANDARD_STREAM) return new Source(path, undefined);
    try {
      const status = await stat(path);
      if (status.isDirectory()) throw new CommandFailed(`${path} is a folder`);
      return new Source(path, status.isFile() ? status.size : undefined);
    } catch (error) {
      throw toFailure(error, path);
    }
  }

  /** How much of the file has been read, from 0 to 1; undefined where nobody knows. */
  get partRead(): number | undefined {
    return this.#size ? Math.min(this.#bytesRead / this.#size, 1) : undefined;
  }

  /**
   * All bytes.
   *
   * @param signal ends the reading early
   * @throws CommandFailed when the file cannot be read; AbortError when the signal has ended it
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
  return new CommandFailed(
    `${path === STANDARD_STREAM ? 'standard input' : path} cannot be read (${String(error.code)})`,
  );
}
