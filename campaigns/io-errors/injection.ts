import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

/** Which system calls of a process fail with EIO. */
export interface Failure {
  /** Their names, comma-separated. */
  readonly calls: string;
  /** The number of the call that fails, from 1. */
  readonly first: number;
  /** Whether all later ones fail, too. */
  readonly isPermanent: boolean;
}

/** Makes system calls of a running process fail, by strace. Disposing detaches it. */
export class Injection implements AsyncDisposable {
  readonly #strace: ChildProcess;
  readonly #log: string;

  private constructor(strace: ChildProcess, log: string) {
    this.#strace = strace;
    this.#log = log;
  }

  /** Resolves when strace is attached to all threads of the process. @param log the output file of strace */
  static async open(pid: number, { calls, first, isPermanent }: Failure, log: string): Promise<Injection> {
    const inject = `inject=${calls}:error=EIO:when=${first}${isPermanent ? '+' : ''}`;
    const strace = spawn('strace', ['-f', '-p', `${pid}`, '-e', `trace=${calls}`, '-e', inject, '-o', log], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const { promise: attached, resolve, reject } = Promise.withResolvers<void>();
    let stderr = '';
    strace.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      if (stderr.includes('attached')) resolve();
    });
    strace.once('error', reject);
    strace.once('close', () => reject(new Error(`strace cannot attach to the service: ${stderr}`)));
    await attached;
    return new Injection(strace, log);
  }

  /** How many calls have failed. */
  get failures(): number {
    return readFileSync(this.#log, 'utf8').split('(INJECTED)').length - 1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#strace.exitCode !== null || this.#strace.signalCode !== null) return;
    const hasEnded = once(this.#strace, 'exit');
    this.#strace.kill('SIGINT');
    await hasEnded;
  }
}
