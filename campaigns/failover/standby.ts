import { appendFile, chown, mkdtemp, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { Cluster } from '../../test/support/cluster.ts';
import { startJanitor } from '../../test/support/cluster-janitor.ts';
import { findFreePort } from '../../test/support/free-port.ts';
import { run } from '../run.ts';

/** A server that follows a primary, and takes its place when it is promoted. */
export interface Standby {
  readonly cluster: Cluster;
  /** Resolves when it is a primary itself, and waits for nobody. */
  promote(): Promise<void>;
}

/**
 * Gives a primary a standby, which every commit waits for from now on. The primary is restarted: the standby begins
 * as a copy of its files, as that needs no program that the npm package lacks.
 *
 * @param port where it listens
 */
export async function addStandby(primary: Cluster, port?: number): Promise<Standby> {
  const data = await ask<string>(primary.url, 'show data_directory');
  await primary.stop();
  const folder = await mkdtemp(join(tmpdir(), 'bookkeeping-standby-'));
  const janitor = startJanitor(folder);
  await run('cp', '-a', data, join(folder, 'data'));
  const { uid, gid } = await stat(data);
  await chown(folder, uid, gid);
  await follow(join(folder, 'data'), primary);
  await appendFile(join(data, SETTINGS), `synchronous_standby_names = '*'\n`);

  const { password } = new URL(primary.url);
  const place = { folder, programs: primary.programs, port: port ?? (await findFreePort()) };
  const cluster = new Cluster(place, password, janitor);
  await primary.start();
  // It accepts connections, other than for reading, when it has been promoted.
  const isPrimary = cluster.start();
  // What keeps it from that is heard of in promote().
  isPrimary.catch(() => {});
  const streaming = `select count(*)::integer from pg_stat_replication where sync_state = 'sync'`;
  while ((await ask<number>(primary.url, streaming)) === 0) await Promise.race([sleep(20), isPrimary]);
  return {
    cluster,
    async promote() {
      await ask(cluster.url, 'select pg_promote()');
      await isPrimary;
    },
  };
}

/** The file of settings that comes last, so that it prevails. */
const SETTINGS = 'postgresql.auto.conf';

/** Makes a copy of a primary's files those of its standby. */
async function follow(data: string, { url }: Cluster): Promise<void> {
  const { hostname, port, username, password } = new URL(url);
  const conninfo = `host=${hostname} port=${port} user=${username} password=${password}`;
  await writeFile(join(data, 'standby.signal'), '');
  await appendFile(join(data, SETTINGS), `primary_conninfo = '${conninfo}'\n`);
}

/** @returns the one value of a query's one row */
async function ask<Value>(url: string, sql: string): Promise<Value> {
  const client = new Client(url);
  await client.connect();
  try {
    const { rows } = await client.query<Value[]>({ text: sql, rowMode: 'array' });
    return rows[0]?.[0] as Value;
  } finally {
    await client.end();
  }
}
