import type { Duplex } from 'node:stream';
import type { ClientBase } from 'pg';
import { StoreUnavailable } from '../../../book/book-store-interface.ts';
import { emptyIfUnsupported, isUnsupported, sqlState } from '../errors.ts';
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

/**
 * Applies the settings of a connection by a statement, as connection poolers reject unknown startup parameters. Settings
 * that the server does not have or does not permit are omitted, except durability.
 */
export async function configure(client: ClientBase, statementTimeoutMs: number): Promise<void> {
  const timeout = `set_config('statement_timeout', '${statementTimeoutMs}', false)`;
  const values = Object.entries(SETTINGS).map(([name, value]) => `('${name}', '${value}')`);
  try {
    await client.query(`select ${DURABLE}, ${timeout}, ${applied(values)}`);
  } catch (error) {
    if (!isUnsupported(error)) throw error;
    await client.query(`select ${DURABLE}`);
    for (const setting of [timeout, ...values.map((value) => applied([value]))]) {
      await client.query(`select ${setting}`).catch(emptyIfUnsupported);
    }
  }
}

/** Applies those settings that the server has. */
function applied(values: readonly string[]): string {
  const wanted = `(values ${values.join(', ')}) as wanted (name, value)`;
  return `(select count(set_config(name, value, false)) from ${wanted} join pg_settings using (name))`;
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
