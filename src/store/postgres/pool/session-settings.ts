import type { Duplex } from 'node:stream';
import type { ClientBase } from 'pg';
import { StoreUnavailable } from '../../../book/book-store-interface.ts';
import { sqlState } from '../errors.ts';
import type { SessionAttributes } from './conninfo.ts';

/** Commits must be on disk before the server acknowledges them. */
const DURABLE = `case current_setting('synchronous_commit', true) when 'off' then set_config('synchronous_commit', 'on', false) end`;

/**
 * The time after which the server closes a connection whose packets get no reply. Without it, a connection that a failed
 * network has cut occupies the server for hours, with its locks.
 */
const UNREACHABLE_MS = 30_000;

const SETTINGS = {
  // A prepared statement may keep the plan from when the table was small; it must never be a sequential scan.
  enable_seqscan: 'off',
  // Of Citus: one connection to each server takes the least work for a short statement on several shards.
  'citus.max_adaptive_executor_pool_size': 1,
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 4,
  tcp_user_timeout: UNREACHABLE_MS,
};

/** Applies the settings of a connection by a statement, as connection poolers reject unknown startup parameters. */
export async function configure(client: ClientBase, statementTimeoutMs: number): Promise<void> {
  const settings = Object.entries({ ...SETTINGS, statement_timeout: statementTimeoutMs });
  const values = settings.map(([name, value]) => `('${name}', '${value}')`);
  // The join leaves out what the server does not have, such as the settings of Citus.
  await client.query(`
    select ${DURABLE}, count(set_config(name, value, false))
    from (values ${values.join(', ')}) as wanted (name, value) join pg_settings using (name)`);
}

/** The condition on a server, and the problem where it is not met. */
const REQUIREMENTS: Readonly<
  Partial<Record<SessionAttributes, readonly [condition: string, problem: string]>>
> = {
  'read-write': [`current_setting('transaction_read_only') = 'off'`, 'only reads'],
  'read-only': [`current_setting('transaction_read_only') = 'on'`, 'writes'],
  primary: ['not pg_is_in_recovery()', 'is a standby'],
  standby: ['pg_is_in_recovery()', 'is no standby'],
};

/** The parameters that a server reports when they change, since PostgreSQL 14. */
const REPORTED: ReadonlySet<string> = new Set(['in_hot_standby', 'default_transaction_read_only']);

export class UnsuitableServer extends StoreUnavailable {}

/** @throws UnsuitableServer when the server does not have the attributes; else what the driver throws */
export async function expectSuitable(
  client: ClientBase,
  attributes: SessionAttributes,
  timeoutMs: number,
): Promise<void> {
  const [condition, problem] = REQUIREMENTS[attributes] ?? [];
  if (!condition) return;
  const check = { text: `select ${condition} as "isSuitable"`, query_timeout: timeoutMs };
  const { rows } = await client.query<{ isSuitable: boolean }>(check);
  if (rows[0]?.isSuitable !== true) throw new UnsuitableServer(`the server ${problem}`);
}

/** The timeline of a server, which increases with each promotion; 0 if the server is a standby or has no timelines. */
export async function readTimeline(client: ClientBase, timeoutMs: number): Promise<number> {
  const query = { text: 'select pg_walfile_name(pg_current_wal_lsn()) as file', query_timeout: timeoutMs };
  try {
    const { rows } = await client.query<{ file: string }>(query);
    // The name begins with the timeline in 8 hexadecimal digits.
    return Number.parseInt(rows[0]?.file.slice(0, 8) ?? '0', 16);
  } catch (error) {
    if (sqlState(error) === undefined) throw error;
    return 0;
  }
}

export function watch(client: ClientBase, onChange: () => void): void {
  connectionOf(client).on('parameterStatus', ({ parameterName }) => {
    if (REPORTED.has(parameterName)) onChange();
  });
}

/** All clients of the driver have it, but not all of their types. */
export function connectionOf(client: ClientBase): DriverConnection {
  return (client as ClientBase & { readonly connection: DriverConnection }).connection;
}

interface DriverConnection {
  readonly stream: Duplex;
  on(event: 'parameterStatus', listener: (message: { readonly parameterName: string }) => void): unknown;
}
