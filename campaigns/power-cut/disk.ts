import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../run.ts';

const DISK_BYTES = 256 * 1_024 * 1_024;

/**
 * EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH (fs/ext4/ext4.h in Linux): from now on the file system writes
 * nothing any more, and what it has not yet written is lost. Node has no ioctl.
 */
const SHUT_DOWN = `
  open(my $folder, '<', $ARGV[0]) or die $!;
  my $flags = pack('L', 2);
  ioctl($folder, 0x8004587d, $flags) or die $!;
`;

/** A disk of its own, with ext4, whose power can be cut. It is a file; disposing unmounts it. */
export class Disk implements AsyncDisposable {
  /** Where it is mounted. */
  readonly path: string;
  readonly #image: string;

  private constructor(folder: string) {
    this.path = join(folder, 'disk');
    this.#image = join(folder, 'image');
  }

  /** Makes a disk in a folder. @throws Error when the system does not allow it */
  static async create(folder: string): Promise<Disk> {
    const disk = new Disk(folder);
    await mkdir(disk.path);
    await writeFile(disk.#image, '');
    await truncate(disk.#image, DISK_BYTES);
    await run('mkfs.ext4', '-q', disk.#image);
    await disk.#mount();
    return disk;
  }

  /** Cuts the power: everything that uses the disk fails from now on. */
  async cut(): Promise<void> {
    await run('perl', '-e', SHUT_DOWN, this.path);
  }

  /** Takes the disk into use again, as a machine does that has power again. Nobody may have a file open. */
  async restore(): Promise<void> {
    await run('umount', this.path);
    await this.#mount();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await run('umount', this.path);
  }

  async #mount(): Promise<void> {
    await run('mount', '-o', 'loop', this.#image, this.path);
  }
}
