import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { Client, type ClientConfig, Pool, types } from 'pg';
import { StoreNotReady } from '../not-ready.ts';
import type { Conninfo } from './conninfo.ts';
import { reasonOf, sqlState } from './errors.ts';

/** How long a connection may take to come about, unless `connect_timeout` says otherwise. */
const CONNECT_TIMEOUT_MS = 1_500;

/** What a pool of connections is for. */
export interface PoolBounds {
  /** The most connections. */
  readonly connectionsMax: number;
  /** After this the server gives up a statement, and {@link GRACE_MS} later we give up the server. */
  readonly statementTimeoutMs: number;
}

/**
 * For calls on single books and pages: every kind has one trip under way at a time, and whoever asks a server that has
 * frozen is told so within 2 seconds.
 */
export const QUICK: PoolBounds = { connectionsMax: 8, statementTimeoutMs: 1_400 };

/** For what may take longer: thousands of books in one statement. */
export const LONG: PoolBounds = { connectionsMax: 1, statementTimeoutMs: 10_000 };

/** For searches, which keep off the connections of those who read and write single books. */
export const SEARCHES: PoolBounds = { connectionsMax: 2, statementTimeoutMs: 1_400 };

/** For the index of searches: nobody waits for it, and a book of a megabyte takes its time. */
export const INDEX: PoolBounds = { connectionsMax: 2, statementTimeoutMs: 60_000 };

const GRACE_MS = 200;

/** Preparing may look at every row of a large table that somebody else made. */
const PREPARE_TIMEOUT_MS = 300_000;

/**
 * Opens the first connection, which is there to prepare the database.
 *
 * @returns the connection, and the settings that a pool of the like takes
 * @throws StoreNotReady when the server cannot be reached or refuses us
 */
export async function connect(conninfo: Conninfo): Promise<{ client: Client; config: ClientConfig }> {
  let failure: unknown;
  for (const ssl of tlsAttempts(conninfo)) {
    const config = { ...clientConfig(conninfo), ssl };
    const client = new Client({ ...config, query_timeout: PREPARE_TIMEOUT_MS });
    client.on('error', () => {});
    try {
      await client.connect();
      return { client, config };
    } catch (error) {
      failure = error;
      await client.end();
    }
    // Another way is worth trying where the server lacks TLS, or its pg_hba.conf wants the other way.
    const state = sqlState(failure);
    if (state !== undefined && state !== '28000') break;
  }
  throw new StoreNotReady(`PostgreSQL ${describe(conninfo)} ${explain(failure)}`);
}

/** A pool of connections, each opened when it is needed. */
export function createPool(config: ClientConfig, { connectionsMax, statementTimeoutMs }: PoolBounds): Pool {
  const pool = new Pool({
    ...config,
    max: connectionsMax,
    query_timeout: statementTimeoutMs + GRACE_MS,
    // Sent as a statement, because connection poolers refuse parameters that they do not know at connecting. A
    // server that acknowledges commits before they are on disk is told not to. The plan of a prepared statement may be
    // as old as the table, so it is never to read all of it, which was cheap when there were few books.
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool awaits it, though its type says void
    onConnect: async (client) => {
      await client.query(`
        select set_config('statement_timeout', '${statementTimeoutMs}', false),
          case current_setting('synchronous_commit') when 'off' then set_config('synchronous_commit', 'on', false) end,
          (select set_config(name, 'off', false) from pg_settings where name = 'enable_seqscan')
      `);
    },
  });
  // An idle connection that drops is replaced at the next call; without a listener it would end the process.
  pool.on('error', () => {});
  return pool;
}

function clientConfig(conninfo: Conninfo): ClientConfig {
  const { host, port, user, password, dbname, options, connectTimeoutSeconds } = conninfo;
  return {
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password: password.reveal() }),
    ...(dbname !== undefined && { database: dbname }),
    ...(options !== undefined && { options }),
    application_name: conninfo.applicationName,
    client_encoding: 'UTF8',
    connectionTimeoutMillis: connectTimeoutSeconds ? connectTimeoutSeconds * 1_000 : CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types: {
      getTypeParser: (oid, format) =>
        oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format),
    },
  };
}

/** What `sslmode` means to libpq: the settings to try, one after the other. */
function tlsAttempts(conninfo: Conninfo): (ConnectionOptions | false)[] {
  const { host, sslmode, sslrootcert, sslcert, sslkey } = conninfo;
  if (sslmode === 'disable' || host?.startsWith('/')) return [false];
  const isVerified = sslmode === 'verify-ca' || sslmode === 'verify-full' || sslrootcert !== undefined;
  const tls: ConnectionOptions = {
    rejectUnauthorized: isVerified,
    ...(sslrootcert !== undefined && sslrootcert !== 'system' && { ca: read('sslrootcert', sslrootcert) }),
    ...(sslcert !== undefined && { cert: read('sslcert', sslcert) }),
    ...(sslkey !== undefined && { key: read('sslkey', sslkey) }),
    ...(sslmode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
  if (sslmode === 'allow') return [false, tls];
  if (sslmode === 'prefer') return [tls, false];
  return [tls];
}

function read(keyword: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new StoreNotReady(`the file of ${keyword} cannot be read (${reasonOf(error)})`);
  }
}

function describe({ host, port, dbname }: Conninfo): string {
  return `(host ${host ?? 'by default'}, port ${port ?? 'by default'}, database ${dbname ?? 'by default'})`;
}

function explain(error: unknown): string {
  const reason = reasonOf(error);
  switch (sqlState(error)) {
    case undefined:
      return `cannot be reached (${reason})`;
    case '28P01':
    case '28000':
      return `refuses this user or password (${reason})`;
    case '3D000':
      return `has no such database (${reason})`;
    default:
      return `refuses the connection (${reason})`;
  }
}
