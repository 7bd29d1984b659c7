import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Generator, Load, Played } from './generator.ts';

const PLAYER = join(import.meta.dirname, 'player.ts');

/** Our own generator, for machines without wrk: a process with raw sockets that prepares all requests beforehand. */
export class NodeGenerator implements Generator {
  readonly title = 'raw sockets in a Node process, as wrk is not installed';

  async play(load: Load): Promise<Played> {
    const { stdout } = await promisify(execFile)(process.execPath, [PLAYER, JSON.stringify(load)]);
    return JSON.parse(stdout) as Played;
  }
}
