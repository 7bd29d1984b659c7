import { setTimeout as sleep } from 'node:timers/promises';
import { type Program, ServerProcess } from './services/server-process.ts';
import { readMemoryBytes } from './services/usage.ts';

const STARTS = 10;
/** The wait before memory is read. */
const SETTLE_MS = 2_000;

export interface Starts {
  /** Milliseconds from each start of the process to the first response. */
  readonly ms: readonly number[];
  /** Resident memory some time after a start. */
  readonly idleBytes: number;
}

/** Starts a program several times. */
export async function measureStarts(program: Program): Promise<Starts> {
  const ms: number[] = [];
  while (ms.length < STARTS) {
    const startedAt = performance.now();
    const server = await ServerProcess.start(program);
    ms.push(performance.now() - startedAt);
    await server[Symbol.asyncDispose]();
  }
  await using server = await ServerProcess.start(program);
  await sleep(SETTLE_MS);
  return { ms, idleBytes: readMemoryBytes(server.pid) };
}
