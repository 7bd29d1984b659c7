import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, truncateSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../testkit/free-port.ts';
import { PASSWORD, SECRET, USERNAME } from './credentials.ts';
import { sendRequest } from './send-request.ts';

export interface Program {
  /** A program and its arguments. */
  readonly command: readonly string[];
  /** The working directory, also of the log. */
  readonly folder: string;
  readonly variables?: Readonly<Record<string, string>>;
}

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;

/** A server in its own process, with its output in a file. */
export class ServerProcess implements AsyncDisposable {
  readonly pid: number;
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #logFile: string;

  private constructor(process: ChildProcess, url: string, logFile: string) {
    this.pid = process.pid ?? 0;
    this.url = url;
    this.#process = process;
    this.#logFile = logFile;
  }

  /** Starts a server on loopback, and waits for any response to `GET /book/1`. */
  static async start({
    command: [program = '', ...args],
    folder,
    variables = {},
  }: Program): Promise<ServerProcess> {
    const port = await findFreePort();
    const logFile = join(folder, 'log');
    const log = openSync(logFile, 'a');
    const child = spawn(program, args, {
      cwd: folder,
      env: {
        HOST: '127.0.0.1',
        PORT: `${port}`,
        SECRET_TOKEN: SECRET,
        AUTH_USERNAME: USERNAME,
        AUTH_PASSWORD: PASSWORD,
        ...variables,
      },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    const killAtExit = () => child.kill('SIGKILL');
    process.once('exit', killAtExit);
    child.once('exit', () => process.off('exit', killAtExit));
    const server = new ServerProcess(child, `http://127.0.0.1:${port}`, logFile);
    await server.#waitForResponse();
    return server;
  }

  /** Truncates the log, which could fill the disk. */
  truncateLog(): void {
    truncateSync(this.#logFile);
  }

  /** Yields the lines of the log in batches, then truncates it. Lines written just before the truncation are lost. */
  async *drainLog(): AsyncGenerator<string[]> {
    await using file = await open(this.#logFile, 'r');
    let incomplete = '';
    for await (const piece of file.createReadStream({ encoding: 'utf8', autoClose: false })) {
      const lines = `${incomplete}${piece as string}`.split('\n');
      incomplete = lines.pop() ?? '';
      yield lines;
    }
    this.truncateLog();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#hasExited) return;
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    const killTimer = setTimeout(() => this.#process.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(killTimer);
  }

  async #waitForResponse(): Promise<void> {
    const deadline = performance.now() + START_TIMEOUT_MS;
    for (;;) {
      try {
        await sendRequest(this.url, 'GET /book/1');
        return;
      } catch (error) {
        if (this.#hasExited || performance.now() > deadline) {
          throw new Error(`the server does not start: ${readFileSync(this.#logFile, 'utf8').slice(-500)}`, {
            cause: error,
          });
        }
      }
      await sleep(1);
    }
  }

  get #hasExited(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }
}
