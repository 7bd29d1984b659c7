import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs a program of the system to its end. @returns what it printed; @throws Error with what it complained of */
export async function run(program: string, ...flags: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, flags);
  return stdout;
}
