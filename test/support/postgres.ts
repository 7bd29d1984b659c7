import { randomUUID } from 'node:crypto';
import { Client, type QueryResultRow } from 'pg';

export { type Cluster, type StopMode, startCluster } from './cluster.ts';

/** A database for one test. Disposing drops it, whoever is still connected. */
export interface Database extends AsyncDisposable {
  readonly url: string;
  /** Looks inside, on a connection of its own. */
  query<Row extends QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** How a database differs from the usual. */
export interface DatabaseOptions {
  /** The address of the server; by default the one that the whole run shares. */
  readonly server?: string;
  readonly encoding?: 'UTF8' | 'LATIN1' | 'SQL_ASCII';
}

/** Creates an empty database with a name of its own. */
export async function createDatabase({
  server = sharedServer(),
  encoding = 'UTF8',
}: DatabaseOptions = {}): Promise<Database> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  // Only the locale C of the operating system goes with every encoding.
  const locale = encoding === 'UTF8' ? '' : "template template0 locale_provider libc locale 'C'";
  await query(server, `create database ${name} encoding '${encoding}' ${locale}`);
  const url = Object.assign(new URL(server), { pathname: name }).href;
  return {
    url,
    query: (sql, values) => query(url, sql, values),
    async [Symbol.asyncDispose]() {
      await query(server, `drop database if exists ${name} with (force)`);
    },
  };
}

function sharedServer(): string {
  const url = process.env.TEST_POSTGRES_URL;
  if (url === undefined) throw new Error('run with --test-global-setup=test/support/global-setup.ts');
  return url;
}

async function query<Row extends QueryResultRow>(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new Client(url);
  await client.connect();
  try {
    const { rows } = await client.query<Row>(sql, [...values]);
    return rows;
  } finally {
    await client.end();
  }
}
