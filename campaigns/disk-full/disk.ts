import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../run.ts';

/** A disk that is soon full, in memory. Disposing unmounts it. */
export class SmallDisk implements AsyncDisposable {
  /** Where it is mounted. */
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Makes a disk in a folder. @throws Error when the system does not allow it */
  static async create(folder: string): Promise<SmallDisk> {
    const disk = new SmallDisk(join(folder, 'disk'));
    await mkdir(disk.path);
    await run('mount', '-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', disk.path);
    return disk;
  }

  /** Takes all space that is left. */
  fill(): void {
    const ballast = openSync(this.#ballast, 'a');
    const block = Buffer.alloc(4_096);
    try {
      for (;;) writeSync(ballast, block);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(ballast);
    }
  }

  /** Gives back what fill() took. */
  async free(): Promise<void> {
    await rm(this.#ballast);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await run('umount', this.path);
  }

  get #ballast(): string {
    return join(this.path, 'ballast');
  }
}
