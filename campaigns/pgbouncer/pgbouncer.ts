import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Janitor } from '../../testkit/cluster-janitor.ts';
import { findFreePort } from '../../testkit/free-port.ts';
import { run } from '../../testkit/run-program.ts';
import { createProgramFolder, Program } from '../program.ts';

/** The first version that supports prepared statements in transaction mode. */
const PREPARING_VERSION = [1, 21] as const;

/** PgBouncer in transaction mode on loopback. Disposing kills it. */
export class PgBouncer implements AsyncDisposable {
  /** The version, such as `1.18.0`. */
  readonly version: string;
  readonly #port: number;
  readonly #folder: string;
  readonly #janitor: Janitor;
  #server = '';
  #program: Program | undefined;

  private constructor(version: string, port: number, folder: string, janitor: Janitor) {
    this.version = version;
    this.#port = port;
    this.#folder = folder;
    this.#janitor = janitor;
  }

  /** @param server the URL of a PostgreSQL server; @throws Error when PgBouncer does not start */
  static async start(server: string): Promise<PgBouncer> {
    const version = /[\d.]+/.exec(await run('pgbouncer', '--version'))?.[0] ?? '';
    const { folder, janitor } = await createProgramFolder();
    const pooler = new PgBouncer(version, await findFreePort(), folder, janitor);
    await pooler.#configure(new URL(server));
    await pooler.start();
    return pooler;
  }

  /** The address of a database of the server through the pooler. */
  through(url: string): string {
    return Object.assign(new URL(url), { port: this.#port }).href;
  }

  /** Resolves when it accepts connections. */
  async start(): Promise<void> {
    const program = new Program(this.#folder, 'pgbouncer', [join(this.#folder, 'pgbouncer.ini')]);
    this.#program = program;
    for (;;) {
      if (!program.isRunning) throw new Error(`PgBouncer has exited: ${await program.tail()}`);
      const client = new Client(this.through(this.#server));
      client.on('error', () => {});
      try {
        await client.connect();
        return;
      } catch {
        await sleep(20);
      } finally {
        await client.end();
      }
    }
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.#program?.end(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program?.end('SIGKILL');
    await this.#janitor[Symbol.asyncDispose]();
  }

  async #configure(server: URL): Promise<void> {
    this.#server = server.href;
    const [major = 0, minor = 0] = this.version.split('.').map(Number);
    const isPreparing =
      major > PREPARING_VERSION[0] || (major === PREPARING_VERSION[0] && minor >= PREPARING_VERSION[1]);
    const lines = [
      '[databases]',
      `* = host=${server.hostname} port=${server.port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${this.#port}`,
      'unix_socket_dir =',
      'auth_type = scram-sha-256',
      `auth_file = ${join(this.#folder, 'users.txt')}`,
      'pool_mode = transaction',
      'default_pool_size = 13',
      'max_client_conn = 1000',
      ...(isPreparing ? ['max_prepared_statements = 100'] : []),
    ];
    await writeFile(join(this.#folder, 'pgbouncer.ini'), `${lines.join('\n')}\n`);
    await writeFile(join(this.#folder, 'users.txt'), `"${server.username}" "${server.password}"\n`);
  }
}
