import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readEndedChildrenCpuSeconds } from '../services/usage.ts';
import type { Generator, Load, Played } from './generator.ts';

const SCRIPT = join(import.meta.dirname, 'play.lua');

/** Slow answers are not failures; they show in the numbers. */
const ANSWER_TIMEOUT = '60s';

/** The generator that drives wrk, or undefined when wrk is not installed. */
export function findWrk(): Generator | undefined {
  const version = /^wrk \S+/.exec(spawnSync('wrk', ['-v'], { encoding: 'utf8' }).stdout ?? '')?.[0];
  return version === undefined ? undefined : { title: `${version}, one thread`, play };
}

/** One thread, because it and the service each need a processor, and machines may have no more than two. */
async function play({ url, requestsFile, token, connections, seconds }: Load): Promise<Played> {
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', ANSWER_TIMEOUT, '-s', SCRIPT];
  const cpuSecondsBefore = readEndedChildrenCpuSeconds();
  const { stdout } = await promisify(execFile)('wrk', [...options, url, '--', requestsFile, token]);
  const played = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Omit<Played, 'cpuSeconds'>;
  return { ...played, cpuSeconds: readEndedChildrenCpuSeconds() - cpuSecondsBefore };
}
