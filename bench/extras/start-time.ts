import { type Program, ServerProcess } from '../services/server-process.ts';

const STARTS = 10;

/** Starts a program again and again. @returns milliseconds from the start of its process to its first answer */
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
