import type { ClientBase } from 'pg';
import { StoreUnavailable } from '../../../book/book-store-interface.ts';
import { isUnsupported } from '../errors.ts';
import type { SessionAttributes } from './conninfo.ts';

/** A server that acknowledges commits before they are on disk is told not to. */
const DURABLE = `case current_setting('synchronous_commit', true) when 'off' then set_config('synchronous_commit', 'on', false) end`;

/** The plan of a prepared statement may be as old as the table, so it is never to read all of it, which was cheap then. */
const BY_INDEX = `(select set_config(name, 'off', false) from pg_settings where name = 'enable_seqscan')`;

/**
 * Sets what we want of a connection. It is sent as a statement, because connection poolers refuse parameters that they do
 * not know at connecting. What a server does not know is done without, but for durability.
 *
 * @param timeoutMs after which the server gives up a statement
 */
export async function configure(client: ClientBase, timeoutMs: number): Promise<void> {
  const limit = `set_config('statement_timeout', '${timeoutMs}', false)`;
  try {
    await client.query(`select ${DURABLE}, ${limit}, ${BY_INDEX}`);
  } catch (error) {
    if (!isUnsupported(error)) throw error;
    await client.query(`select ${DURABLE}`);
    for (const setting of [limit, BY_INDEX]) {
      await client.query(`select ${setting}`).catch(ignoreUnsupported);
    }
  }
}

function ignoreUnsupported(error: unknown): void {
  if (!isUnsupported(error)) throw error;
}

/** What is asked of a server, and what is said of one that does not suit. */
const DEMANDS: Readonly<Partial<Record<SessionAttributes, readonly [condition: string, otherwise: string]>>> =
  {
    'read-write': [`current_setting('transaction_read_only') = 'off'`, 'only reads'],
    'read-only': [`current_setting('transaction_read_only') = 'on'`, 'writes'],
    primary: ['not pg_is_in_recovery()', 'is a standby'],
    standby: ['pg_is_in_recovery()', 'is no standby'],
  };

/** What a server tells by itself when it changes, since PostgreSQL 14. */
const TOLD: ReadonlySet<string> = new Set(['in_hot_standby', 'default_transaction_read_only']);

/** A server is another than what is asked for. */
export class UnsuitableServer extends StoreUnavailable {}

/**
 * Asks a server, over a new connection, whether it is what `target_session_attrs` wants; of those that want one thing
 * rather than another, nothing is asked.
 *
 * @param timeoutMs how long its answer may take
 * @throws UnsuitableServer when it is something else; else what the driver throws
 */
export async function expectSuitable(
  client: ClientBase,
  attributes: SessionAttributes,
  timeoutMs: number,
): Promise<void> {
  const demand = DEMANDS[attributes];
  if (!demand) return;
  const [condition, otherwise] = demand;
  const question = { text: `select ${condition} as "isSuitable"`, query_timeout: timeoutMs };
  const { rows } = await client.query<{ isSuitable: boolean }>(question);
  if (rows[0]?.isSuitable !== true) throw new UnsuitableServer(`the server ${otherwise}`);
}

/** Calls back whenever a server becomes one that can be written, or that cannot. */
export function watch({ connection }: WithConnection, hasChanged: () => void): void {
  connection.on('parameterStatus', ({ parameterName }: { parameterName: string }) => {
    if (TOLD.has(parameterName)) hasChanged();
  });
}

/** What the driver's clients have; its types have it of some of them only. */
interface WithConnection {
  readonly connection: {
    on(event: 'parameterStatus', listener: (message: { parameterName: string }) => void): unknown;
  };
}
