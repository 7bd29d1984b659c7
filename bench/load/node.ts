import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Generator, Load, LoadResult } from './load.ts';

const LOAD_PROCESS = join(import.meta.dirname, 'load-process.ts');
/** Few garbage collections, which would delay requests. */
const OPTIONS = ['--max-semi-space-size=64'];

/** For machines without wrk: a process that sends prepared requests over raw sockets. */
export class NodeGenerator implements Generator {
  readonly title = 'raw sockets in a Node process, as wrk is not installed';

  run(load: Load): Promise<LoadResult> {
    return runLoadProcess(load);
  }
}

/** Requests are sent when they are due, at equal intervals, whether or not there are responses to earlier ones. */
export interface OpenLoad extends Load {
  /** Requests/s. */
  readonly rate: number;
}

/** Latencies include the time from when a request was due until it was sent. */
export interface OpenLoadResult extends LoadResult {
  readonly p999Ms: number;
  readonly p9999Ms: number;
  readonly maxMs: number;
  /** How late the generator itself has sent requests: the 99.9th percentile. */
  readonly delayP999Ms: number;
}

export function runOpenLoad(load: OpenLoad): Promise<OpenLoadResult> {
  return runLoadProcess(load);
}

async function runLoadProcess(load: Load | OpenLoad): Promise<OpenLoadResult> {
  const args = [...OPTIONS, LOAD_PROCESS, JSON.stringify(load)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as OpenLoadResult;
}
