import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, mkdtemp } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { type Janitor, startJanitor } from './cluster-janitor.ts';
import { copyPrograms, initialise, type Network, type Place, spawnServer } from './cluster-place.ts';
import { findFreePort } from './free-port.ts';
import { run } from './run-program.ts';

/**
 * Starts a new PostgreSQL server with its data in the system's temporary folder. The server stops and its folder is deleted
 * when the cluster is disposed or the calling process exits in any way.
 *
 * @throws Error with one line when PostgreSQL cannot run here
 */
export async function startCluster({
  network,
  isSynced = true,
  isTemplate = false,
}: ClusterOptions = {}): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'bookkeeping-postgres-'));
  const janitor = startJanitor(folder);
  try {
    const programs = process.env.TEST_POSTGRES_PROGRAMS ?? (await copyPrograms(folder));
    const place = { folder, programs, port: await findFreePort(), ...(network && { network }) };
    const { TEST_POSTGRES_TEMPLATE: template, TEST_POSTGRES_PASSWORD: password = randomUUID() } = process.env;
    await initialise(place, password, template);
    if (isTemplate) {
      const copy = join(folder, 'template');
      await run('cp', '-a', join(folder, 'data'), copy);
      Object.assign(process.env, { TEST_POSTGRES_TEMPLATE: copy, TEST_POSTGRES_PASSWORD: password });
    }
    if (!isSynced) await appendFile(join(folder, 'data', 'postgresql.conf'), UNSYNCED.join('\n'));
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

/** The shutdown modes of PostgreSQL; `kill` is SIGKILL to its main process. */
export type StopMode = keyof typeof STOP_SIGNALS;

const STOP_SIGNALS = { smart: 'SIGTERM', fast: 'SIGINT', immediate: 'SIGQUIT', kill: 'SIGKILL' } as const;

/** All other settings are PostgreSQL's defaults. */
const SETTINGS = ['unix_socket_directories=', 'max_connections=300'];

/** Without syncs, whole pages in the WAL protect from nothing; its size is limited, as it may be in memory. */
const UNSYNCED = ['fsync = off', 'full_page_writes = off', 'max_wal_size = 256MB', ''];

const LOOPBACK = '127.0.0.1';

/** How a cluster differs from the defaults. */
export interface ClusterOptions {
  /** The network of the server; by default loopback. */
  readonly network?: Network;
  /**
   * Whether the server syncs its files, so that its data survives a crash of the system. Default: true. A process that is
   * killed, be it the server, loses nothing without it.
   */
  readonly isSynced?: boolean;
  /** Whether later clusters of this process and its children begin as a copy of this one, as `initdb` takes a second. Default: false. */
  readonly isTemplate?: boolean;
}

/** A PostgreSQL server that tests can stop, kill, freeze and start again. */
export class Cluster implements AsyncDisposable {
  /** Of the database and superuser `postgres`, with the password. A restart does not change it. */
  readonly url: string;
  readonly port: number;
  /** The folder of PostgreSQL's programs. */
  readonly programs: string;
  readonly #place: Place;
  readonly #janitor: Janitor;
  #server: ChildProcess | undefined;
  #halted: number[] = [];
  #ending: Promise<void> | undefined;

  constructor(place: Place, password: string, janitor: Janitor) {
    this.url = `postgres://postgres:${password}@${place.network?.address ?? LOOPBACK}:${place.port}/postgres`;
    this.port = place.port;
    this.programs = place.programs;
    this.#place = place;
    this.#janitor = janitor;
  }

  /** The process id of the server; undefined while it does not run. */
  get pid(): number | undefined {
    return this.#server?.pid;
  }

  /** Starts the stopped server; resolves when it accepts connections. */
  async start(): Promise<void> {
    const { folder, network } = this.#place;
    const settings = [`listen_addresses=${network?.address ?? LOOPBACK}`, ...SETTINGS];
    const flags = ['-D', join(folder, 'data'), '-p', `${this.port}`];
    const server = await spawnServer(this.#place, [
      ...flags,
      ...settings.flatMap((setting) => ['-c', setting]),
    ]);
    const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
    let log = '';
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = `${log}${text}`.slice(-10_000);
      if (log.includes('ready to accept connections')) resolve();
    });
    server.once('error', reject);
    server.once('close', () => {
      this.#server = undefined;
      reject(new Error(log.trim().split('\n').at(-1)));
    });
    this.#server = server;
    await ready;
    // A cluster that is not disposed does not keep the process alive.
    server.unref();
    if (server.stderr instanceof Socket) server.stderr.unref();
  }

  /** Stops the server; resolves when all of its processes have exited. */
  async stop(mode: StopMode = 'fast'): Promise<void> {
    const server = this.#server;
    if (!server) return;
    server.ref();
    if (server.stderr instanceof Socket) server.stderr.ref();
    const closed = once(server, 'close');
    server.kill(STOP_SIGNALS[mode]);
    this.thaw();
    await closed;
  }

  /** Sends SIGSTOP to all processes of the server: connections stay open, and nothing responds. */
  async freeze(): Promise<void> {
    const client = new Client(this.url).on('error', () => {});
    await client.connect();
    this.#halt(this.pid);
    const others = 'select pid from pg_stat_activity where pid <> pg_backend_pid()';
    for (const { pid } of (await client.query<{ pid: number }>(others)).rows) this.#halt(pid);
    // Its server process may wait for a lock of one that is halted, so this can end only after thaw().
    client.end().catch(() => {});
  }

  /** Continues a frozen server. */
  thaw(): void {
    for (const pid of this.#halted.splice(0)) {
      try {
        process.kill(pid, 'SIGCONT');
      } catch (error) {
        // A server that is being stopped ends its processes as soon as it continues itself.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
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
