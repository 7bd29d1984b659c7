import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const CONFIGURATION = join(import.meta.dirname, '..', '..', 'deploy', 'haproxy', 'haproxy.cfg');

/** What the tests add to its configuration. */
const OPERATOR = 'operator.cfg';

/** HAProxy, as deploy/haproxy has it, in front of three copies on loopback. Disposing ends it. */
export class Haproxy implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #socket: string;
  #complaints = '';

  private constructor(port: number, copies: readonly number[], folder: string) {
    this.#socket = join(folder, 'operator');
    const [one, two, three] = copies.map((copy) => `127.0.0.1:${copy}`);
    this.#process = spawn('haproxy', ['-db', '-f', CONFIGURATION, '-f', join(folder, OPERATOR)], {
      env: {
        ...process.env,
        BOOKS_ADDRESS: `localhost:${port}`,
        BOOKS_COPY_1: one,
        BOOKS_COPY_2: two,
        BOOKS_COPY_3: three,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#process.on('error', () => {});
    this.#process.stderr?.setEncoding('utf8').on('data', (said: string) => {
      this.#complaints = `${this.#complaints}${said}`.slice(-10_000);
    });
  }

  /**
   * Resolves when all copies get requests.
   *
   * @param folder where its operator's socket may be
   * @throws Error when HAProxy does not start
   */
  static async start(port: number, copies: readonly number[], folder: string): Promise<Haproxy> {
    await writeFile(join(folder, OPERATOR), `global\n    stats socket ${join(folder, 'operator')}\n`);
    const proxy = new Haproxy(port, copies, folder);
    await proxy.ready(copies.length);
    return proxy;
  }

  /** Resolves when so many copies get requests. */
  async ready(count: number): Promise<void> {
    while ((await this.#countReady()) < count) {
      if (this.#process.exitCode !== null || this.#process.pid === undefined)
        throw new Error(`HAProxy has ended: ${this.#complaints}`);
      await sleep(20);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.pid === undefined || this.#process.exitCode !== null) return;
    const isOver = once(this.#process, 'close');
    this.#process.kill('SIGTERM');
    await isOver;
  }

  async #countReady(): Promise<number> {
    const operator = connect(this.#socket);
    operator.on('error', () => {});
    operator.write('show stat\n');
    const answer = await text(operator).catch(() => '');
    const [heading = '', ...lines] = answer.replace(/^# /, '').split('\n');
    const [name, status] = ['svname', 'status'].map((column) => heading.split(',').indexOf(column));
    const copies = lines
      .map((line) => line.split(','))
      .filter((cells) => /^(one|two|three)$/.test(cells[name ?? 0] ?? ''));
    return copies.filter((cells) => cells[status ?? 0] === 'UP').length;
  }
}
