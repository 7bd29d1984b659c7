import { randomUUID } from 'node:crypto';
import { Pool, type QueryResultRow } from 'pg';
import { query } from './sql.ts';

export { type Cluster, type StopMode, startCluster } from './cluster.ts';

/** A database for one test. Disposing drops it and closes its connections. */
export interface Database extends AsyncDisposable {
  readonly url: string;
  /** Queries it on a new connection. */
  query<Row extends QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

interface DatabaseOptions {
  /** The URL of the server; by default that of the global setup, with time to connect on a busy machine. */
  readonly server?: string;
  readonly encoding?: 'UTF8' | 'LATIN1' | 'SQL_ASCII';
}

/** Creates an empty database with a unique name. */
export async function createDatabase({
  server = sharedServer(),
  encoding = 'UTF8',
}: DatabaseOptions = {}): Promise<Database> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  // Only the locale C of libc supports every encoding.
  const locale = encoding === 'UTF8' ? '' : "template template0 locale_provider libc locale 'C'";
  // A copy of files takes half of the time of the default, which writes each page to the WAL, too.
  await administer(server, `create database ${name} encoding '${encoding}' strategy file_copy ${locale}`);
  const url = Object.assign(new URL(server), { pathname: name }).href;
  return {
    url,
    query: (sql, values) => query(url, sql, values),
    async [Symbol.asyncDispose]() {
      await administer(server, `drop database if exists ${name} with (force)`);
    },
  };
}

/** Creates a user without privileges; disposing drops the user and later privileges. */
export async function createUser(
  database: Database,
): Promise<AsyncDisposable & { readonly name: string; readonly url: string }> {
  const name = `user_${Math.random().toString(36).slice(2)}`;
  await database.query(`create role ${name} login password 'hunter2'`);
  return {
    name,
    url: Object.assign(new URL(database.url), { username: name, password: 'hunter2' }).href,
    [Symbol.asyncDispose]: async () =>
      void (await database.query(`drop owned by ${name} cascade; drop role ${name}`)),
  };
}

function sharedServer(): string {
  const url = process.env.TEST_POSTGRES_URL;
  if (url === undefined) throw new Error('run with --test-global-setup=testkit/global-setup.ts');
  return Object.assign(new URL(url), { search: 'connect_timeout=60' }).href;
}

/** Sends a statement on the one connection of this process to a server. It does not keep the process alive. */
async function administer(server: string, sql: string): Promise<void> {
  let pool = pools.get(server);
  if (!pool) {
    pool = new Pool({ connectionString: server, max: 1, allowExitOnIdle: true });
    // A server that is stopped ends the connection; the next statement has another.
    pools.set(
      server,
      pool.on('error', () => {}),
    );
  }
  await pool.query(sql);
}

const pools = new Map<string, Pool>();
