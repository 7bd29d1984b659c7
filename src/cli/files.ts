import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, createReadStream, fsyncSync, openSync, readFileSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { CommandError } from './exits.ts';

/** The path of standard input or output. */
export const STANDARD_STREAM = '-';

/** A file, or standard input. */
interface Input {
  /** The fraction that has been read, from 0 to 1; undefined when the size is unknown. */
  fractionRead(): number | undefined;
  /** The content, once. @throws CommandError when it cannot be read; AbortError when the signal is aborted */
  chunks(signal: AbortSignal): AsyncGenerator<Uint8Array>;
}

const CHUNK_BYTES = 64 * 1_024;

/** @throws CommandError when there is no such file */
export async function openInput(path: string): Promise<Input> {
  const isStandard = path === STANDARD_STREAM;
  const fail = (error: unknown) =>
    toFileError(error, `${isStandard ? 'standard input' : path} cannot be read`);
  const status = isStandard
    ? undefined
    : await stat(path).catch((error: unknown) => {
        throw fail(error);
      });
  if (status?.isDirectory()) throw new CommandError(`${path} is a directory`);
  let bytesRead = 0;
  return {
    fractionRead: () =>
      status?.isFile() && status.size > 0 ? Math.min(bytesRead / status.size, 1) : undefined,
    async *chunks(signal) {
      const stream = isStandard ? process.stdin : createReadStream(path, { highWaterMark: CHUNK_BYTES });
      addAbortSignal(signal, stream);
      try {
        for await (const chunk of stream as AsyncIterable<Buffer>) {
          bytesRead += chunk.length;
          yield chunk;
        }
      } catch (error) {
        throw signal.aborted ? error : fail(error);
      }
    },
  };
}

/** The output of an export. Disposing it before it is finished removes the file. */
interface Output extends AsyncDisposable {
  /** @throws CommandError */
  write(text: string): Promise<void>;
  /** Renames the file from its temporary name, durably. @throws CommandError */
  finish(): Promise<void>;
}

/** `run` handles errors of this stream. */
const STANDARD_OUTPUT: Output = {
  async write(text) {
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  },
  async finish() {},
  async [Symbol.asyncDispose]() {},
};

/** Opens standard output, or a file under a temporary name. @throws CommandError when it cannot be written */
export async function openOutput(path: string): Promise<Output> {
  if (path === STANDARD_STREAM) return STANDARD_OUTPUT;
  const temporaryPath = `${path}.${randomBytes(4).toString('hex')}.part`;
  const attempt = async <Result>(operation: () => Promise<Result>): Promise<Result> => {
    try {
      return await operation();
    } catch (error) {
      throw toFileError(error, `${path} cannot be written`);
    }
  };
  const file = await attempt(() => open(temporaryPath, 'wx'));
  return {
    write: (text) => attempt(() => file.appendFile(text)),
    finish: () =>
      attempt(async () => {
        await file.sync();
        await file.close();
        await rename(temporaryPath, path);
        syncFolderOf(path);
      }),
    async [Symbol.asyncDispose]() {
      await file.close().catch(() => {});
      await rm(temporaryPath, { force: true });
    },
  };
}

/** Makes the name of a file durable after it was renamed. Windows syncs no folders. */
export function syncFolderOf(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Reads a whole short file. @throws CommandError when it cannot be read */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw toFileError(error, `${path} cannot be read`);
  }
}

/** An error of the file system as a CommandError with its code; any other error as it is. */
export function toFileError(error: unknown, message: string): unknown {
  return error instanceof Error && 'code' in error
    ? new CommandError(`${message} (${String(error.code)})`)
    : error;
}
