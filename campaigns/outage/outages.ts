import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Cluster, StopMode } from '../../test/support/postgres.ts';
import type { Outage } from './outage-trial.ts';

/**
 * What may befall a PostgreSQL server, by name.
 *
 * @param url the database of the service
 * @param share how much of their time the long ones take
 */
export function outagesOf(cluster: Cluster, url: string, share: number): Readonly<Record<string, Outage>> {
  return {
    'all backends terminated': {
      isAway: false,
      lastsMs: 0,
      begin: () => terminateBackends(url),
      end: async () => {},
    },
    'fast restart': restart(cluster, 'fast', 0),
    'immediate restart': restart(cluster, 'immediate', 0),
    'postmaster killed': restart(cluster, 'kill', 0),
    'a backend killed': {
      isAway: false,
      lastsMs: 0,
      begin: () => killBackend(url),
      end: () => accepting(url),
    },
    'down for 30 s': restart(cluster, 'fast', 30_000 * share),
    'frozen for 10 s': {
      isAway: true,
      lastsMs: 10_000 * share,
      begin: () => cluster.freeze(),
      end: async () => cluster.thaw(),
    },
  };
}

function restart(cluster: Cluster, mode: StopMode, lastsMs: number): Outage {
  return { isAway: true, lastsMs, begin: () => cluster.stop(mode), end: () => cluster.start() };
}

/** The backends that serve a database, except for the one that is asked. */
const BACKENDS = `from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;

async function terminateBackends(url: string): Promise<void> {
  const operator = new Client(url);
  await operator.connect();
  await operator.query(`select pg_terminate_backend(pid) ${BACKENDS}`);
  await operator.end();
}

/** Resolves when the server has sent everybody away, as it does when one of its processes dies. */
async function killBackend(url: string): Promise<void> {
  const operator = new Client(url);
  operator.on('error', () => {});
  await operator.connect();
  const isSentAway = new Promise((resolve) => operator.once('end', resolve));
  const { rows } = await operator.query<{ pid: number }>(`select pid ${BACKENDS} limit 1`);
  const pid = rows[0]?.pid;
  if (pid === undefined) throw new Error('the service has no connection');
  process.kill(pid, 'SIGKILL');
  await isSentAway;
}

/** Resolves when the server takes connections again. */
async function accepting(url: string): Promise<void> {
  for (;;) {
    const client = new Client(url);
    client.on('error', () => {});
    try {
      await client.connect();
      return;
    } catch {
      await sleep(5);
    } finally {
      await client.end();
    }
  }
}
