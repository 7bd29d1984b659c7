import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, truncateSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../test/support/free-port.ts';
import { ask } from './ask.ts';
import { PASSWORD, SECRET, USERNAME } from './credentials.ts';

/** A server to run. */
export interface Program {
  /** The module that `node` runs. */
  readonly file: string;
  /** Options of `node` before it. */
  readonly options?: readonly string[];
  /** Its working directory, where its log goes, too. */
  readonly folder: string;
  readonly variables?: Readonly<Record<string, string>>;
  /** A command, and its arguments, that runs the program as its own process. */
  readonly launcher?: readonly string[];
}

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;

/** A server in a process of its own, with its output in a file as its operator would redirect it. */
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

  /** Starts a server on loopback, and waits for its first answer: that of `GET /book/1`, whatever it is. */
  static async start({
    file,
    options = [],
    folder,
    variables = {},
    launcher = [],
  }: Program): Promise<ServerProcess> {
    const port = await findFreePort();
    const logFile = join(folder, 'log');
    const log = openSync(logFile, 'a');
    // env(1) becomes what it starts, so the process is the program's.
    const child = spawn('env', [...launcher, process.execPath, ...options, file], {
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
    const killWithUs = () => child.kill('SIGKILL');
    process.once('exit', killWithUs);
    child.once('exit', () => process.off('exit', killWithUs));
    const server = new ServerProcess(child, `http://127.0.0.1:${port}`, logFile);
    await server.#firstAnswer();
    return server;
  }

  /** Empties the log, which a long run would fill the disk with. */
  emptyLog(): void {
    truncateSync(this.#logFile);
  }

  /**
   * Empties the log, too, and hands it over in portions of whole lines. What is written between the last of them and
   * the emptying is lost.
   */
  async *takeLog(): AsyncGenerator<string[]> {
    await using file = await open(this.#logFile, 'r');
    let rest = '';
    for await (const piece of file.createReadStream({ encoding: 'utf8', autoClose: false })) {
      const lines = `${rest}${piece as string}`.split('\n');
      rest = lines.pop() ?? '';
      yield lines;
    }
    this.emptyLog();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#hasEnded) return;
    const isGone = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    const cutOff = setTimeout(() => this.#process.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await isGone;
    clearTimeout(cutOff);
  }

  async #firstAnswer(): Promise<void> {
    const deadline = performance.now() + START_TIMEOUT_MS;
    for (;;) {
      try {
        await ask(this.url, 'GET /book/1');
        return;
      } catch (error) {
        if (this.#hasEnded || performance.now() > deadline) {
          throw new Error(`a server does not start: ${readFileSync(this.#logFile, 'utf8').slice(-500)}`, {
            cause: error,
          });
        }
      }
      await sleep(1);
    }
  }

  get #hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }
}
