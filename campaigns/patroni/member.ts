import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { childrenOf } from '../../bench/services/usage.ts';
import type { Janitor } from '../../testkit/cluster-janitor.ts';
import { findFreePort } from '../../testkit/free-port.ts';
import { createProgramFolder, Program } from '../program.ts';

/** The common settings of the members of a cluster. */
interface MemberOptions {
  readonly etcdPort: number;
  /** Of PostgreSQL's superuser `postgres`, and of the user for replication. */
  readonly password: string;
  /** The folder of PostgreSQL's programs. */
  readonly programs: string;
}

/** What Patroni stores in etcd for all members, in seconds; ttl and retry_timeout are the smallest that it accepts. */
export const CLUSTER_SETTINGS = {
  ttl: 20,
  loop_wait: 2,
  retry_timeout: 3,
  /** A killed primary is replaced, and not started again. */
  primary_start_timeout: 0,
  maximum_lag_on_failover: 1_048_576,
  synchronous_mode: true,
  /** Without a standby, no write is acknowledged. */
  synchronous_mode_strict: true,
  failsafe_mode: false,
};

/** A PostgreSQL server and its Patroni. Disposing kills both and deletes the data. */
export class Member implements AsyncDisposable {
  readonly name: string;
  /** The port of PostgreSQL. */
  readonly port: number;
  /** The port of Patroni's REST API. */
  readonly restPort: number;
  readonly #folder: string;
  readonly #janitor: Janitor;
  #patroni: Program | undefined;
  #frozen: number[] = [];

  private constructor(name: string, ports: readonly [number, number], folder: string, janitor: Janitor) {
    this.name = name;
    [this.port, this.restPort] = ports;
    this.#folder = folder;
    this.#janitor = janitor;
  }

  /** Starts Patroni, and does not wait for PostgreSQL. */
  static async start(name: string, options: MemberOptions): Promise<Member> {
    const { folder, janitor } = await createProgramFolder();
    const member = new Member(name, [await findFreePort(), await findFreePort()], folder, janitor);
    await member.#configure(options);
    member.startPatroni();
    return member;
  }

  /** The configuration of Patroni. */
  get configuration(): string {
    return join(this.#folder, 'patroni.yml');
  }

  startPatroni(): void {
    this.#patroni = new Program(this.#folder, 'patroni', [this.configuration]);
  }

  /** Kills Patroni with SIGKILL; PostgreSQL continues. */
  async killPatroni(): Promise<void> {
    await this.#patroni?.end('SIGKILL');
  }

  /** Kills the main process of PostgreSQL with SIGKILL. */
  async killPostgres(): Promise<void> {
    process.kill(await this.#postmaster(), 'SIGKILL');
  }

  /** Sends SIGSTOP to Patroni and to all processes of PostgreSQL. */
  async freeze(): Promise<void> {
    const postmaster = await this.#postmaster();
    for (const pid of [this.#patroni?.pid ?? 0, postmaster]) this.#stop(pid);
    for (const pid of childrenOf(postmaster)) this.#stop(pid);
  }

  /** Continues PostgreSQL, but not Patroni. */
  thawPostgres(): void {
    for (const pid of this.#frozen.splice(1)) process.kill(pid, 'SIGCONT');
  }

  /** Continues everything. */
  thaw(): void {
    for (const pid of this.#frozen.splice(0)) process.kill(pid, 'SIGCONT');
  }

  /** What its Patroni reports at a path of its REST API; undefined when it does not respond. */
  async report<Report>(path: string): Promise<Report | undefined> {
    try {
      const url = `http://127.0.0.1:${this.restPort}${path}`;
      const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
      return (await response.json()) as Report;
    } catch {
      return undefined;
    }
  }

  /** Runs a statement on its PostgreSQL. @returns the rows; @throws Error also when there is no response in 1.5 s */
  async query<Row extends object>(url: string, sql: string): Promise<Row[]> {
    const connectionString = Object.assign(new URL(url), { port: this.port }).href;
    const client = new Client({ connectionString, connectionTimeoutMillis: 1_500, query_timeout: 1_500 });
    client.on('error', () => {});
    try {
      await client.connect();
      return (await client.query<Row>(sql)).rows;
    } finally {
      // A server that does not respond does not close the connection either.
      client.end().catch(() => {});
    }
  }

  /** The last lines of Patroni's log. */
  async tail(): Promise<string> {
    return (await this.#patroni?.tail()) ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.killPatroni();
    this.thaw();
    await this.#janitor[Symbol.asyncDispose]();
  }

  #stop(pid: number): void {
    process.kill(pid, 'SIGSTOP');
    this.#frozen.push(pid);
  }

  async #postmaster(): Promise<number> {
    return Number.parseInt(await readFile(join(this.#folder, 'data', 'postmaster.pid'), 'utf8'), 10);
  }

  async #configure({ etcdPort, password, programs }: MemberOptions): Promise<void> {
    const [rest, postgres] = [this.restPort, this.port].map((port) => `127.0.0.1:${port}`);
    const superuser = { username: 'postgres', password };
    const configuration = {
      scope: 'books',
      name: this.name,
      restapi: { listen: rest, connect_address: rest },
      // The API of etcd 2: by that of etcd 3, Patroni before 3.0.3 lets a former leader overwrite the lock of the new one
      // (https://github.com/patroni/patroni/pull/2689), and acknowledged writes are lost.
      etcd: { host: `127.0.0.1:${etcdPort}` },
      watchdog: { mode: 'off' },
      bootstrap: {
        dcs: { ...CLUSTER_SETTINGS, postgresql: { use_pg_rewind: true, use_slots: true } },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
      },
      postgresql: {
        listen: postgres,
        connect_address: postgres,
        bin_dir: programs,
        data_dir: join(this.#folder, 'data'),
        pgpass: join(this.#folder, 'pgpass'),
        authentication: { superuser, replication: { username: 'replicator', password }, rewind: superuser },
        parameters: { unix_socket_directories: this.#folder },
        pg_hba: [
          'host all all 127.0.0.1/32 scram-sha-256',
          'host replication all 127.0.0.1/32 scram-sha-256',
        ],
        // A former primary that cannot be rewound is copied again.
        remove_data_directory_on_rewind_failure: true,
        remove_data_directory_on_diverged_timelines: true,
      },
    };
    // JSON is YAML.
    await writeFile(this.configuration, JSON.stringify(configuration));
  }
}
