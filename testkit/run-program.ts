import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs a program to its end. @returns its standard output; @throws Error with its standard error */
export async function run(program: string, ...flags: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, flags);
  return stdout;
}
