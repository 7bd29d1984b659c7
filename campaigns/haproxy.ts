import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const CONFIGURATION = join(import.meta.dirname, '..', 'deploy', 'haproxy', 'haproxy.cfg');

/** What campaigns add to it. */
const ADMIN = 'admin.cfg';

/** What deploy/haproxy/haproxy.cfg needs. */
interface HaproxyConfiguration {
  readonly variables: Readonly<Record<string, string>>;
  /** The number of its servers that are UP once it is ready. */
  readonly serversUp: number;
}

/** The variables for three copies of the service on loopback. */
export function balanceCopies(port: number, copies: readonly number[]): HaproxyConfiguration {
  const addresses = copies.map((copy, index) => [`BOOKS_COPY_${index + 1}`, `127.0.0.1:${copy}`]);
  const variables = { BOOKS_ADDRESS: `localhost:${port}`, ...Object.fromEntries(addresses) };
  return { variables, serversUp: copies.length };
}

/** HAProxy with the configuration of deploy/haproxy. Disposing stops it. */
export class Haproxy implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #socket: string;
  #stderr = '';

  private constructor({ variables }: HaproxyConfiguration, folder: string) {
    this.#socket = join(folder, 'admin');
    this.#process = spawn('haproxy', ['-db', '-f', CONFIGURATION, '-f', join(folder, ADMIN)], {
      env: { ...process.env, ...variables },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#process.on('error', () => {});
    this.#process.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#stderr = `${this.#stderr}${chunk}`.slice(-10_000);
    });
  }

  /**
   * Resolves when it is ready.
   *
   * @param folder for its admin socket
   * @throws Error when HAProxy does not start
   */
  static async start(configuration: HaproxyConfiguration, folder: string): Promise<Haproxy> {
    await writeFile(join(folder, ADMIN), `global\n    stats socket ${join(folder, 'admin')}\n`);
    const proxy = new Haproxy(configuration, folder);
    await proxy.ready(configuration.serversUp);
    return proxy;
  }

  /** Resolves when this many servers are UP, and all have been checked: until then each counts as UP. */
  async ready(count: number): Promise<void> {
    while (!(await this.#isReady(count))) {
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

  async #isReady(count: number): Promise<boolean> {
    const socket = connect(this.#socket);
    socket.on('error', () => {});
    socket.write('show stat\n');
    const response = await text(socket).catch(() => '');
    const [heading = '', ...lines] = response.replace(/^# /, '').split('\n');
    const [name = 0, status = 0, check = 0] = ['svname', 'status', 'check_status'].map((column) =>
      heading.split(',').indexOf(column),
    );
    const servers = lines
      .map((line) => line.split(','))
      .filter((cells) => /^(one|two|three)$/.test(cells[name] ?? ''));
    // Between two states it is `UP 1/2`.
    const isChecked = servers.every(
      (cells) => cells[check] !== 'INI' && /^(UP|DOWN)$/.test(cells[status] ?? ''),
    );
    return isChecked && servers.filter((cells) => cells[status] === 'UP').length >= count;
  }
}
