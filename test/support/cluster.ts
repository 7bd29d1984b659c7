import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { type Janitor, startJanitor } from './cluster-janitor.ts';
import { copyPrograms, initialise, type Place, surroundings } from './cluster-place.ts';
import { findFreePort } from './free-port.ts';

/**
 * Makes a PostgreSQL server on loopback with data of its own in the system's temporary folder, and starts it. It
 * goes, and its folder with it, when the cluster is disposed or the calling process ends, however that ends.
 *
 * @throws Error with one clear line when PostgreSQL cannot run here
 */
export async function startCluster(): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'bookkeeping-postgres-'));
  const janitor = startJanitor(folder);
  try {
    const programs = process.env.TEST_POSTGRES_PROGRAMS ?? (await copyPrograms(folder));
    const place = { folder, programs, port: await findFreePort() };
    const password = randomUUID();
    await initialise(place, password);
    const cluster = new Cluster(place, password, janitor);
    await cluster.start();
    return cluster;
  } catch (cause) {
    await janitor[Symbol.asyncDispose]();
    throw new Error(`PostgreSQL cannot start: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

/**
 * How a server stops, in PostgreSQL's words: `smart` waits for clients to leave, `fast` sends them away,
 * `immediate` leaves recovery to the next start. `kill` is SIGKILL to its main process.
 */
export type StopMode = keyof typeof STOP_SIGNALS;

const STOP_SIGNALS = { smart: 'SIGTERM', fast: 'SIGINT', immediate: 'SIGQUIT', kill: 'SIGKILL' } as const;

/** Whatever is not named here, durability above all, is PostgreSQL's default. */
const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=300'];

/** A PostgreSQL server that tests may stop, kill, freeze and start again. */
export class Cluster implements AsyncDisposable {
  /** Its first database, for the superuser, with the password. A restart keeps the address. */
  readonly url: string;
  readonly port: number;
  /** The folder with PostgreSQL's programs. */
  readonly programs: string;
  readonly #folder: string;
  readonly #janitor: Janitor;
  #server: ChildProcess | undefined;
  #halted: number[] = [];
  #ending: Promise<void> | undefined;

  constructor(place: Place, password: string, janitor: Janitor) {
    this.url = `postgres://postgres:${password}@127.0.0.1:${place.port}/postgres`;
    this.port = place.port;
    this.programs = place.programs;
    this.#folder = place.folder;
    this.#janitor = janitor;
  }

  /** The id of the server's main process; undefined while none runs. */
  get pid(): number | undefined {
    return this.#server?.pid;
  }

  /** Starts the stopped server; resolves when it accepts connections. */
  async start(): Promise<void> {
    const settings = SETTINGS.flatMap((setting) => ['-c', setting]);
    const options = ['-D', join(this.#folder, 'data'), '-p', `${this.port}`, ...settings];
    const server = spawn(join(this.programs, 'postgres'), options, {
      ...(await surroundings(this.#folder)),
      detached: true, // An interrupt at the terminal is for the tests to handle.
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const { promise: isReady, resolve, reject } = Promise.withResolvers<void>();
    let log = '';
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      log = `${log}${text}`.slice(-10_000);
      if (log.includes('ready to accept connections')) resolve();
    });
    server.once('error', reject);
    server.once('close', () => {
      this.#server = undefined;
      reject(new Error(log.trim().split('\n').at(-1)));
    });
    this.#server = server;
    await isReady;
    // A test that forgets its cluster does not keep its process alive.
    server.unref();
    if (server.stderr instanceof Socket) server.stderr.unref();
  }

  /** Stops the server; resolves when all of its processes are gone. */
  async stop(mode: StopMode = 'fast'): Promise<void> {
    const server = this.#server;
    if (!server) return;
    server.ref();
    if (server.stderr instanceof Socket) server.stderr.ref();
    const isGone = once(server, 'close');
    server.kill(STOP_SIGNALS[mode]);
    this.thaw();
    await isGone;
  }

  /** Halts all of the server's processes: its connections stay open, and nothing answers. */
  async freeze(): Promise<void> {
    const client = new Client(this.url).on('error', () => {});
    await client.connect();
    this.#halt(this.pid);
    const others = 'select pid from pg_stat_activity where pid <> pg_backend_pid()';
    for (const { pid } of (await client.query<{ pid: number }>(others)).rows) this.#halt(pid);
    // Its server process may wait for a lock of one that is halted, so this can end only after thaw().
    client.end().catch(() => {});
  }

  /** Lets a frozen server go on. */
  thaw(): void {
    for (const pid of this.#halted.splice(0)) process.kill(pid, 'SIGCONT');
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#ending ??= this.stop('immediate').then(() => this.#janitor[Symbol.asyncDispose]());
    return this.#ending;
  }

  #halt(pid: number | undefined): void {
    if (pid === undefined) throw new Error('the server is stopped');
    process.kill(pid, 'SIGSTOP');
    this.#halted.push(pid);
  }
}
