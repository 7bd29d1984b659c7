import type { ClientBase } from 'pg';
import { StoreUnavailable } from '../../../book/book-store.ts';
import { CITUS_SETTINGS } from '../citus/settings.ts';

/** What is behind the address has become a standby, whose books are older: for the time until a proxy notices that. */
export class StandbyServer extends StoreUnavailable {
  constructor() {
    super('the server is a standby');
  }
}

/** Commits must be on disk before the server acknowledges them. */
const DURABLE = `case current_setting('synchronous_commit', true) when 'off' then set_config('synchronous_commit', 'on', false) end`;

/**
 * The time after which the server closes a connection whose packets get no reply. Without it, a connection that a failed
 * network has cut occupies the server for hours, with its locks.
 */
const UNREACHABLE_MS = 30_000;

const SETTINGS = {
  // For all prepared statements that find books by id. Each keeps its plan until the table is analyzed: with one from
  // when the table had 20 books, it would read all of 200,000 for each book, in 41 ms instead of 0.05 ms.
  enable_seqscan: 'off',
  // Before PostgreSQL 18, a sequential scan that cannot be avoided, as of a table of one row, has costs of 1e10 then, which
  // makes the server compile the statement at each execution: 160 ms instead of 4 ms.
  jit: 'off',
  ...CITUS_SETTINGS,
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 4,
  tcp_user_timeout: UNREACHABLE_MS,
};

/**
 * Applies the settings of a connection by a statement, as connection poolers reject unknown startup parameters.
 *
 * @throws StandbyServer; else what the driver throws
 */
export async function applySettings(client: ClientBase, statementTimeoutMs: number): Promise<void> {
  const settings = Object.entries({ ...SETTINGS, statement_timeout: statementTimeoutMs });
  const values = settings.map(([name, value]) => `('${name}', '${value}')`);
  // The join leaves out what the server does not have.
  const { rows } = await client.query<{ isStandby: boolean }>(`
    select pg_is_in_recovery() as "isStandby", ${DURABLE}, count(set_config(name, value, false))
    from (values ${values.join(', ')}) as wanted (name, value) join pg_settings using (name)`);
  if (rows[0]?.isStandby !== false) throw new StandbyServer();
}
