import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const CONFIGURATION = join(import.meta.dirname, '..', '..', 'deploy', 'haproxy', 'haproxy.cfg');

/** The part that this campaign adds to the configuration. */
const ADMIN = 'admin.cfg';

/** HAProxy with the configuration of deploy/haproxy, in front of three copies on loopback. Disposing stops it. */
export class Haproxy implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #socket: string;
  #stderr = '';

  private constructor(port: number, copies: readonly number[], folder: string) {
    this.#socket = join(folder, 'admin');
    const [one, two, three] = copies.map((copy) => `127.0.0.1:${copy}`);
    this.#process = spawn('haproxy', ['-db', '-f', CONFIGURATION, '-f', join(folder, ADMIN)], {
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
    this.#process.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#stderr = `${this.#stderr}${chunk}`.slice(-10_000);
    });
  }

  /**
   * Resolves when all copies get requests.
   *
   * @param folder for its admin socket
   * @throws Error when HAProxy does not start
   */
  static async start(port: number, copies: readonly number[], folder: string): Promise<Haproxy> {
    await writeFile(join(folder, ADMIN), `global\n    stats socket ${join(folder, 'admin')}\n`);
    const proxy = new Haproxy(port, copies, folder);
    await proxy.ready(copies.length);
    return proxy;
  }

  /** Resolves when this many copies are UP. */
  async ready(count: number): Promise<void> {
    while ((await this.#countReady()) < count) {
      if (this.#process.exitCode !== null || this.#process.pid === undefined)
        throw new Error(`HAProxy has exited: ${this.#stderr}`);
      await sleep(20);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.pid === undefined || this.#process.exitCode !== null) return;
    const isClosed = once(this.#process, 'close');
    this.#process.kill('SIGTERM');
    await isClosed;
  }

  async #countReady(): Promise<number> {
    const socket = connect(this.#socket);
    socket.on('error', () => {});
    socket.write('show stat\n');
    const response = await text(socket).catch(() => '');
    const [heading = '', ...lines] = response.replace(/^# /, '').split('\n');
    const [name, status] = ['svname', 'status'].map((column) => heading.split(',').indexOf(column));
    const copies = lines
      .map((line) => line.split(','))
      .filter((cells) => /^(one|two|three)$/.test(cells[name ?? 0] ?? ''));
    return copies.filter((cells) => cells[status ?? 0] === 'UP').length;
  }
}
