import { appendFile, chown, mkdtemp, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster } from './cluster.ts';
import { startJanitor } from './cluster-janitor.ts';
import { findFreePort } from './free-port.ts';
import { run } from './run-program.ts';
import { query } from './sql.ts';

/** A server that replicates a primary, and replaces it when it is promoted. */
export interface Standby {
  readonly cluster: Cluster;
  /** Resolves when it is a primary, without a synchronous standby of its own. */
  promote(): Promise<void>;
}

/**
 * Adds a synchronous standby to a primary. The primary is restarted, since the standby is a copy of its files: the npm
 * package has no pg_basebackup.
 */
export async function addStandby(primary: Cluster): Promise<Standby> {
  const [settings] = await query(primary.url, 'show data_directory');
  const data = String(settings?.data_directory);
  await primary.stop();
  const folder = await mkdtemp(join(tmpdir(), 'bookkeeping-standby-'));
  const janitor = startJanitor(folder);
  await run('cp', '-a', data, join(folder, 'data'));
  const { uid, gid } = await stat(data);
  await chown(folder, uid, gid);
  await follow(join(folder, 'data'), primary);
  await appendFile(join(data, SETTINGS), `synchronous_standby_names = '*'\n`);

  const { password } = new URL(primary.url);
  const place = { folder, programs: primary.programs, port: await findFreePort() };
  const cluster = new Cluster(place, password, janitor);
  await primary.start();
  // It accepts writes once it has been promoted.
  const isPrimary = cluster.start();
  // promote() reports an error.
  isPrimary.catch(() => {});
  const streaming = `select 1 from pg_stat_replication where sync_state = 'sync'`;
  while ((await query(primary.url, streaming)).length === 0) await Promise.race([sleep(20), isPrimary]);
  return {
    cluster,
    async promote() {
      await query(cluster.url, 'select pg_promote()');
      await isPrimary;
    },
  };
}

/** The settings file that is read last, so that it takes precedence. */
const SETTINGS = 'postgresql.auto.conf';

/** Turns a copy of a primary's files into those of its standby. */
async function follow(data: string, { url }: Cluster): Promise<void> {
  const { hostname, port, username, password } = new URL(url);
  const conninfo = `host=${hostname} port=${port} user=${username} password=${password}`;
  await writeFile(join(data, 'standby.signal'), '');
  await appendFile(join(data, SETTINGS), `primary_conninfo = '${conninfo}'\n`);
}
