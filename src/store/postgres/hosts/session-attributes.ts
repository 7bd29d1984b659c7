import type { Duplex } from 'node:stream';
import type { ClientBase } from 'pg';
import { StoreUnavailable } from '../../../book/book-store.ts';
import { sqlState } from '../errors.ts';
import type { Conninfo, SessionAttributes } from './conninfo.ts';

/** The condition on a server, and the problem where it is not met. */
const REQUIREMENTS = {
  any: undefined,
  'read-write': [`current_setting('transaction_read_only') = 'off'`, 'only reads'],
  primary: ['not pg_is_in_recovery()', 'is a standby'],
} as const satisfies Record<SessionAttributes, unknown>;

/** The parameters that a server reports when they change, since PostgreSQL 14. */
const REPORTED: ReadonlySet<string> = new Set(['in_hot_standby', 'default_transaction_read_only']);

export class UnsuitableServer extends StoreUnavailable {}

/** @throws UnsuitableServer when the server does not have the attributes; else what the driver throws */
export async function expectSuitable(client: ClientBase, conninfo: Conninfo): Promise<void> {
  const requirement = REQUIREMENTS[conninfo.sessionAttributes];
  if (!requirement) return;
  const [condition, problem] = requirement;
  const check = { text: `select ${condition} as "isSuitable"`, query_timeout: conninfo.connectTimeoutMs };
  const { rows } = await client.query<{ isSuitable: boolean }>(check);
  if (rows[0]?.isSuitable !== true) throw new UnsuitableServer(`the server ${problem}`);
}

/**
 * The timeline of a server, which increases with each promotion; 0 if the server is a standby. The name of a WAL file begins
 * with it in 8 hexadecimal digits: `0000000A00000001000000C3` is of timeline 10.
 */
export async function readTimeline(client: ClientBase, conninfo: Conninfo): Promise<number> {
  const text = 'select pg_walfile_name(pg_current_wal_lsn()) as file';
  const query = { text, query_timeout: conninfo.connectTimeoutMs };
  try {
    const { rows } = await client.query<{ file: string }>(query);
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
