import { type Program, ServerProcess } from '../services/server-process.ts';

const STARTS = 10;

/** Starts a program several times. @returns milliseconds from each start of the process to the first response */
export async function measureStarts(program: Program): Promise<number[]> {
  const startsMs: number[] = [];
  for (let start = 0; start < STARTS; start++) {
    const startedAt = performance.now();
    const server = await ServerProcess.start(program);
    startsMs.push(performance.now() - startedAt);
    await server[Symbol.asyncDispose]();
  }
  return startsMs;
}
