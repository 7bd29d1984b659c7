import { mkdir } from 'node:fs/promises';
import { run } from '../testkit/run-program.ts';

/** A mounted file system. Disposing unmounts it. */
export class Mount implements AsyncDisposable {
  /** Where it is mounted. */
  readonly path: string;
  readonly #options: readonly string[];

  private constructor(path: string, options: readonly string[]) {
    this.path = path;
    this.#options = options;
  }

  /** Mounts it on a new folder. @param options arguments of `mount`; @throws Error when the system does not allow it */
  static async create(path: string, ...options: readonly string[]): Promise<Mount> {
    await mkdir(path);
    await run('mount', ...options, path);
    return new Mount(path, options);
  }

  /** Unmounts and mounts it. No process may have a file open. */
  async remount(): Promise<void> {
    await run('umount', this.path);
    await run('mount', ...this.#options, this.path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await run('umount', this.path);
  }
}
