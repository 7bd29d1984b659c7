import { once } from 'node:events';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { CommandError } from '../command.ts';
import { STANDARD_STREAM } from './format.ts';

/** The output of an export. */
export interface Output extends AsyncDisposable {
  /** @throws CommandError */
  write(text: string): Promise<void>;
  /** Makes the file durable and gives it its name. @throws CommandError */
  finish(): Promise<void>;
}

/**
 * Opens standard output, or a file, which gets its name when it is finished.
 *
 * @throws CommandError when the file cannot be written
 */
export async function openOutput(path: string): Promise<Output> {
  if (path === STANDARD_STREAM) return STANDARD_OUTPUT;
  const temporaryPath = `${path}.${process.pid}.part`;
  try {
    return new OutputFile(path, temporaryPath, await open(temporaryPath, 'w'));
  } catch (error) {
    throw toFailure(error, path);
  }
}

/** `run` handles its errors. */
const STANDARD_OUTPUT: Output = {
  async write(text) {
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  },
  async finish() {},
  async [Symbol.asyncDispose]() {},
};

/** It has a temporary name until it is finished; disposing it earlier removes it. */
class OutputFile implements Output {
  readonly #path: string;
  readonly #temporaryPath: string;
  readonly #file: FileHandle;

  constructor(path: string, temporaryPath: string, file: FileHandle) {
    this.#path = path;
    this.#temporaryPath = temporaryPath;
    this.#file = file;
  }

  write(text: string): Promise<void> {
    return this.#report(() => this.#file.appendFile(text));
  }

  finish(): Promise<void> {
    return this.#report(async () => {
      await this.#file.sync();
      await this.#file.close();
      await rename(this.#temporaryPath, this.#path);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close().catch(() => {});
    await rm(this.#temporaryPath, { force: true });
  }

  async #report(operation: () => Promise<void>): Promise<void> {
    try {
      await operation();
    } catch (error) {
      throw toFailure(error, this.#path);
    }
  }
}

function toFailure(error: unknown, path: string): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  return new CommandError(`${path} cannot be written (${String(error.code)})`);
}
