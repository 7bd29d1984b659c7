import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import { CommandFailed } from '../exit.ts';
import { STANDARD_STREAM } from '../format.ts';

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
   * All bytes, but for a byte-order mark, which some programs put in front of UTF-8.
   *
   * @param signal ends the reading early
   * @throws CommandFailed when the file cannot be read, or is UTF-16; AbortError when the signal has ended it
   */
  async *chunks(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const isStandard = this.#path === STANDARD_STREAM;
    const stream: Readable = isStandard
      ? process.stdin
      : createReadStream(this.#path, { highWaterMark: CHUNK_BYTES });
    addAbortSignal(signal, stream);
    let isFirst = true;
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        this.#bytesRead += chunk.length;
        yield isFirst ? withoutMark(chunk) : chunk;
        isFirst = false;
      }
    } catch (error) {
      throw signal.aborted ? error : toFailure(error, this.#path);
    }
  }
}

function withoutMark(chunk: Buffer): Uint8Array {
  const [first = 0, second = 0, third = 0] = chunk;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw new CommandFailed('the file is UTF-16; save it as UTF-8');
  }
  return first === 0xef && second === 0xbb && third === 0xbf ? chunk.subarray(3) : chunk;
}

function toFailure(error: unknown, path: string): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  return new CommandFailed(
    `${path === STANDARD_STREAM ? 'standard input' : path} cannot be read (${String(error.code)})`,
  );
}
