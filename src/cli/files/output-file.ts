import { once } from 'node:events';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { CommandFailed } from '../exit.ts';
import { STANDARD_STREAM } from './format.ts';

/** Where an export goes. */
export interface Target extends AsyncDisposable {
  /** @throws CommandFailed when it cannot be written */
  write(text: string): Promise<void>;
  /** All was written. @throws CommandFailed */
  finish(): Promise<void>;
}

/**
 * Opens a file, which is there as a whole or not at all, or standard output.
 *
 * @throws CommandFailed when the file cannot be written
 */
export async function openTarget(path: string): Promise<Target> {
  if (path === STANDARD_STREAM) return STANDARD_OUTPUT;
  const draft = `${path}.${process.pid}.part`;
  try {
    return new FileTarget(path, draft, await open(draft, 'w'));
  } catch (error) {
    throw toFailure(error, path);
  }
}

/** Its errors are those of the whole command. */
const STANDARD_OUTPUT: Target = {
  async write(text) {
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  },
  async finish() {},
  async [Symbol.asyncDispose]() {},
};

/** It has another name until it is finished; disposing before takes it away. */
class FileTarget implements Target {
  readonly #path: string;
  readonly #draft: string;
  readonly #file: FileHandle;

  constructor(path: string, draft: string, file: FileHandle) {
    this.#path = path;
    this.#draft = draft;
    this.#file = file;
  }

  write(text: string): Promise<void> {
    return this.#report(() => this.#file.appendFile(text));
  }

  finish(): Promise<void> {
    return this.#report(async () => {
      await this.#file.sync();
      await this.#file.close();
      await rename(this.#draft, this.#path);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close().catch(() => {});
    await rm(this.#draft, { force: true });
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
  return new CommandFailed(`${path} cannot be written (${String(error.code)})`);
}
