import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Generator, Load, OpenLoad, OpenLoadResult } from './load.ts';

const LOAD_PROCESS = join(import.meta.dirname, 'load-process.ts');
/** Few garbage collections, which would delay requests. */
const OPTIONS = ['--max-semi-space-size=64'];

/** For machines without wrk: a process that sends prepared requests over raw sockets. */
export const nodeGenerator: Generator = {
  title: 'raw sockets in a Node process, as wrk is not installed',
  run: runLoadProcess,
};

/** Runs a load in its own process; only this generator can send an open load. */
export async function runLoadProcess(load: Load | OpenLoad): Promise<OpenLoadResult> {
  const args = [...OPTIONS, LOAD_PROCESS, JSON.stringify(load)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as OpenLoadResult;
}
