import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Cluster, StopMode } from '../../testkit/postgres.ts';
import type { Relay } from '../../testkit/relay.ts';
import { query } from '../../testkit/sql.ts';
import type { Random } from '../random.ts';
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

/** The faults of a relay between the service and its server, by name. @param share the fraction of their full length */
export function relayFaultsOf(relay: Relay, random: Random, share: number): Readonly<Record<string, Outage>> {
  return {
    'relay stalls for 30 s': {
      isDown: true,
      lastsMs: 30_000 * share,
      begin: async () => relay.stall(),
      end: async () => relay.resume(),
    },
    'relay forgets its connections': {
      isDown: false,
      lastsMs: 0,
      begin: async () => relay.forget(),
      end: async () => {},
    },
    'relay cuts within messages': {
      isDown: false,
      lastsMs: 0,
      begin: () => cutWithinMessages(relay, random),
      end: async () => {},
    },
  };
}

/** How many connections are cut within a message. */
const CUTS = 50;

/** Cuts some connections, each after a part of a message; resolves when they are cut. */
async function cutWithinMessages(relay: Relay, random: Random): Promise<void> {
  const goal = relay.cuts + CUTS;
  const { promise, resolve } = Promise.withResolvers<void>();
  relay.truncate = ({ length }) => {
    if (relay.cuts >= goal) {
      relay.truncate = undefined;
      resolve();
      return undefined;
    }
    return random.below(8) === 0 ? 1 + random.below(length - 1) : undefined;
  };
  await promise;
}
