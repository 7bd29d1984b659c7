import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Generator, Load, LoadResult } from './load.ts';

const LOAD_PROCESS = join(import.meta.dirname, 'load-process.ts');
/** Few garbage collections, which would delay requests. */
const OPTIONS = ['--max-semi-space-size=64'];

/** For machines without wrk: a process that sends prepared requests over raw sockets. */
export const nodeGenerator: Generator = {
  title: 'raw sockets in a Node process, as wrk is not installed',
  run,
};

async function run(load: Load): Promise<LoadResult> {
  const args = [...OPTIONS, LOAD_PROCESS, JSON.stringify(load)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as LoadResult;
}
