import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readExitedChildrenCpuSeconds } from '../services/usage.ts';
import type { Generator, Load, LoadResult } from './load.ts';

const SCRIPT = join(import.meta.dirname, 'requests.lua');

/** Slow responses are not failures. */
const RESPONSE_TIMEOUT = '60s';

/** A generator that runs wrk, or undefined if wrk is not installed. */
export function findWrk(): Generator | undefined {
  const version = /^wrk \S+/.exec(spawnSync('wrk', ['-v'], { encoding: 'utf8' }).stdout ?? '')?.[0];
  return version === undefined ? undefined : { title: `${version}, one thread`, run };
}

/** One thread: the machine may have only two processors, and the service needs the other. */
async function run({ url, requestsFile, token, connections, seconds }: Load): Promise<LoadResult> {
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', RESPONSE_TIMEOUT, '-s', SCRIPT];
  const cpuSecondsBefore = readExitedChildrenCpuSeconds();
  const { stdout } = await promisify(execFile)('wrk', [...options, url, '--', requestsFile, token]);
  const result = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Omit<LoadResult, 'cpuSeconds'>;
  return { ...result, cpuSeconds: readExitedChildrenCpuSeconds() - cpuSecondsBefore };
}
