import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Generator, Load, LoadResult } from './generator.ts';

const LOAD_PROCESS = join(import.meta.dirname, 'load-process.ts');

/** For machines without wrk: a process that sends prepared requests over raw sockets. */
export class NodeGenerator implements Generator {
  readonly title = 'raw sockets in a Node process, as wrk is not installed';

  async run(load: Load): Promise<LoadResult> {
    const { stdout } = await promisify(execFile)(process.execPath, [LOAD_PROCESS, JSON.stringify(load)]);
    return JSON.parse(stdout) as LoadResult;
  }
}
