import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

/** Which system calls of a process fail with EIO. */
export interface Failure {
  /** Their names, with commas between them. */
  readonly calls: string;
  /** The number of the call that fails, counted from 1 on. */
  readonly first: number;
  /** Whether all that follow fail, too. */
  readonly isForGood: boolean;
}

/** Makes system calls of a running process fail, by strace. Disposing lets it go. */
export class Injection implements AsyncDisposable {
  readonly #strace: ChildProcess;
  readonly #log: string;

  private constructor(strace: ChildProcess, log: string) {
    this.#strace = strace;
    this.#log = log;
  }

  /** Begins when strace holds all threads of the process. @param log a file for strace to write to */
  static async open(pid: number, { calls, first, isForGood }: Failure, log: string): Promise<Injection> {
    const inject = `inject=${calls}:error=EIO:when=${first}${isForGood ? '+' : ''}`;
    const strace = spawn('strace', ['-f', '-p', `${pid}`, '-e', `trace=${calls}`, '-e', inject, '-o', log], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const { promise: isHeld, resolve, reject } = Promise.withResolvers<void>();
    let said = '';
    strace.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('attached')) resolve();
    });
    strace.once('error', reject);
    strace.once('close', () => reject(new Error(`strace cannot hold the service: ${said}`)));
    await isHeld;
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
