import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Cluster, StopMode } from '../../testkit/postgres.ts';
import { query } from '../../testkit/sql.ts';
import type { Outage } from './run-outage.ts';

/**
 * The outages of a PostgreSQL server, by name.
 *
 * @param url the database of the service
 * @param share the fraction of their full length that the long ones take
 */
export function outagesOf(cluster: Cluster, url: string, share: number): Readonly<Record<string, Outage>> {
  return {
    'all backends terminated': {
      isDown: false,
      lastsMs: 0,
      begin: async () => void (await query(url, `select pg_terminate_backend(pid) ${BACKENDS}`)),
      end: async () => {},
    },
    'fast restart': restart(cluster, 'fast', 0),
    'immediate restart': restart(cluster, 'immediate', 0),
    'postmaster killed': restart(cluster, 'kill', 0),
    'a backend killed': {
      isDown: false,
      lastsMs: 0,
      begin: () => killBackend(url),
      end: () => accepting(url),
    },
    'down for 30 s': restart(cluster, 'fast', 30_000 * share),
    'frozen for 10 s': {
      isDown: true,
      lastsMs: 10_000 * share,
      begin: () => cluster.freeze(),
      end: async () => cluster.thaw(),
    },
  };
}

function restart(cluster: Cluster, mode: StopMode, lastsMs: number): Outage {
  return { isDown: true, lastsMs, begin: () => cluster.stop(mode), end: () => cluster.start() };
}

/** The backends of a database, except the one that runs this query. */
const BACKENDS = `from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;

/** Resolves when the server has closed all connections, as it does when one of its processes crashes. */
async function killBackend(url: string): Promise<void> {
  const admin = new Client(url);
  admin.on('error', () => {});
  await admin.connect();
  const isDisconnected = new Promise((resolve) => admin.once('end', resolve));
  const { rows } = await admin.query<{ pid: number }>(`select pid ${BACKENDS} limit 1`);
  const pid = rows[0]?.pid;
  if (pid === undefined) throw new Error('the service has no connection');
  process.kill(pid, 'SIGKILL');
  await isDisconnected;
}

/** Resolves when the server accepts connections again. */
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
