import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFolder } from '../../testkit/folder.ts';
import { findFreePort } from '../../testkit/free-port.ts';
import { run } from '../../testkit/run-program.ts';
import { Haproxy } from '../haproxy.ts';
import { POSTGRES_FOLDER } from '../needs.ts';
import { Etcd } from './etcd.ts';
import { Member } from './member.ts';

const NAMES = ['one', 'two', 'three'] as const;

/** Far longer than a failover or a new copy of a member takes. */
const WAIT_MS_MAX = 120_000;

/** A member, as Patroni reports it. */
interface MemberReport {
  readonly name: string;
  readonly role: 'leader' | 'sync_standby' | 'replica';
  readonly state: string;
  readonly timeline?: number;
  readonly lag?: number | 'unknown';
}

/** Three PostgreSQL servers under Patroni, with a synchronous standby, behind HAProxy. Disposing ends and deletes everything. */
export class PatroniCluster implements AsyncDisposable {
  readonly etcd: Etcd;
  readonly members: readonly Member[];
  /** The URL of the database, behind HAProxy. */
  readonly dbUrl: string;
  readonly #resources: AsyncDisposableStack;

  private constructor(etcd: Etcd, members: readonly Member[], url: string, resources: AsyncDisposableStack) {
    this.etcd = etcd;
    this.members = members;
    this.dbUrl = url;
    this.#resources = resources;
  }

  /** Resolves when all members are in the cluster. */
  static async start(): Promise<PatroniCluster> {
    await using resources = new AsyncDisposableStack();
    const etcd = resources.use(await Etcd.start());
    const password = randomUUID();
    const members: Member[] = [];
    for (const name of NAMES)
      members.push(
        resources.use(await Member.start(name, { etcdPort: etcd.port, password, programs: POSTGRES_FOLDER })),
      );
    const proxyPort = await findFreePort();
    const url = `postgres://postgres:${password}@127.0.0.1:${proxyPort}/postgres`;
    const cluster = new PatroniCluster(etcd, members, url, resources.move());
    try {
      await cluster.complete();
      await cluster.#startProxy(proxyPort);
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Runs a statement on the server of one member. */
  query<Row extends object>(member: Member, sql: string): Promise<Row[]> {
    return member.query<Row>(this.dbUrl, sql);
  }

  /** The current leader. */
  async leader(): Promise<Member> {
    const leader = await this.#leader();
    if (!leader) throw new Error('the cluster has no leader');
    return leader;
  }

  /** Resolves when the leader is another member than this. */
  async replaced(former: Member): Promise<Member> {
    return this.#until('the leader is not replaced', async () => {
      const leader = await this.#leader();
      return leader === former ? undefined : leader;
    });
  }

  /** Resolves when the server of a member accepts no writes. */
  async demoted(member: Member): Promise<void> {
    await this.#until('the leader is not demoted', async () => {
      const sql = 'select pg_is_in_recovery() as "isStandby"';
      const [row] = await this.query<{ isStandby: boolean }>(member, sql).catch(() => []);
      return row?.isStandby === false ? undefined : true;
    });
  }

  /** Resolves when all members follow one leader, one of them as the synchronous standby. */
  async complete(): Promise<void> {
    await this.#until('a member does not rejoin', async () => {
      const reports = await this.#reports();
      const roles = reports.map(({ role }) => role).toSorted((one, other) => one.localeCompare(other));
      const isComplete =
        roles.join(' ') === 'leader replica sync_standby' &&
        reports.every(({ state }) => state === 'running' || state === 'streaming') &&
        new Set(reports.map(({ timeline }) => timeline)).size === 1;
      return isComplete && (await this.#isStreaming()) ? true : undefined;
    });
  }

  /** Makes the synchronous standby the leader, by Patroni's command line. */
  async switchOver(leader: Member): Promise<void> {
    const flags = ['switchover', '--leader', leader.name, '--force'];
    await run('patronictl', '-c', leader.configuration, ...flags);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }

  async #startProxy(port: number): Promise<void> {
    const folder = this.#resources.use(await createFolder());
    const addresses = this.members.flatMap((member, index) => [
      [`POSTGRES_${index + 1}`, `127.0.0.1:${member.port}`],
      [`PATRONI_${index + 1}`, `${member.restPort}`],
    ]);
    const variables = { POSTGRES_ADDRESS: `127.0.0.1:${port}`, ...Object.fromEntries(addresses) };
    // The other members are DOWN: they are not the primary.
    const configuration = { file: 'postgres.cfg', variables, serversUp: 1 } as const;
    this.#resources.use(await Haproxy.start(configuration, folder.path));
  }

  /** Whether two standbys are connected to the leader, one of them synchronous. */
  async #isStreaming(): Promise<boolean> {
    const leader = await this.#leader();
    if (!leader) return false;
    const sql = `select sync_state from pg_stat_replication where state = 'streaming' order by 1`;
    const rows = await this.query<{ sync_state: string }>(leader, sql).catch(() => []);
    return rows.map((row) => row.sync_state).join(' ') === 'async sync';
  }

  async #leader(): Promise<Member | undefined> {
    const leader = (await this.#reports()).find(
      ({ role, state }) => role === 'leader' && state === 'running',
    );
    return this.members.find(({ name }) => name === leader?.name);
  }

  /** All members, as the first that responds reports them. */
  async #reports(): Promise<readonly MemberReport[]> {
    for (const member of this.members) {
      const report = await member.report<{ members?: readonly MemberReport[] }>('/cluster');
      if (report?.members) return report.members;
    }
    return [];
  }

  /** @throws Error with the last lines of all logs when it takes too long */
  async #until<Result>(failure: string, attempt: () => Promise<Result | undefined>): Promise<Result> {
    const deadline = performance.now() + WAIT_MS_MAX;
    for (;;) {
      const result = await attempt();
      if (result !== undefined) return result;
      if (performance.now() > deadline) {
        const logs = await Promise.all(
          this.members.map(async (member) => `${member.name}:\n${await member.tail()}`),
        );
        throw new Error([failure, JSON.stringify(await this.#reports()), ...logs].join('\n'));
      }
      await sleep(200);
    }
  }
}
