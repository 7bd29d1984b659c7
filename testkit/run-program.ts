import { type ExecFileOptions, execFile } from 'node:child_process';

/** Runs a program to its end. @returns its standard output; @throws Error with the last line of its standard error */
export function run(program: string, ...flags: readonly string[]): Promise<string> {
  return runWith({}, program, flags);
}

/** The same with options of the process. */
export function runWith(
  options: ExecFileOptions,
  program: string,
  flags: readonly string[],
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, flags, { ...options, encoding: 'utf8' }, (error, output, complaints) => {
      if (error) reject(new Error(complaints.trim().split('\n').at(-1) || error.message, { cause: error }));
      else resolve(output);
    });
  });
}
