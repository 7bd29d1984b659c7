import type { ClientBase } from 'pg';
import { StoreUnavailable } from '../../book/book-store.ts';
import { END_IF_IDLE } from '../../store/postgres/schema.ts';
import { hasColumns, RECORDER_VERSION, STATE_COLUMNS, startRecording, stopRecording } from './recorder.ts';

/** Whether triggers record all changes, and have done so since the last gap in the log. */
export const IS_RECORDED = `(days is not null and recorder >= ${RECORDER_VERSION} and catalog = book_history_catalog() and not pg_is_in_recovery())`;

/** The longest time that a start waits for the table of books. */
export const LOCK_MS = 1_000;

interface Schema {
  /** As SQL. */
  readonly schema: string;
  readonly isReadOnly: boolean;
  /** Whether the state can be read. */
  readonly hasState: boolean;
  /** Whether this version or an older one has created triggers. */
  readonly hasTriggers: boolean;
  /** The name of a table that is not one of this service. */
  readonly foreign: string | null;
}

const isForeign = (table: string, columns: readonly string[]) =>
  `to_regclass(schema || '.${table}') is not null and not ${hasColumns(`schema || '.${table}'`, columns)}`;

const SELECT_SCHEMA = `
  select schema,
    current_setting('transaction_read_only') = 'on' as "isReadOnly",
    to_regprocedure(schema || '.book_history_catalog()') is not null
      and ${hasColumns("schema || '.book_history'", STATE_COLUMNS)} as "hasState",
    exists (select from pg_trigger where tgfoid = to_regproc(schema || '.record_book_history')) as "hasTriggers",
    case
      when ${isForeign('book_history', ['log', 'removed', 'days'])} then 'book_history'
      when ${isForeign('book_history_changes', ['note', 'id', 'type', 'at', 'title', 'author', 'year'])}
        then 'book_history_changes'
    end as foreign
  from (
    select quote_ident(nspname) as schema from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where pg_class.oid = to_regclass('books')
  ) as of_books
`;

/** A table with a name of ours is not ours. */
export class ForeignTable extends Error {}

interface PreparationOptions {
  /** How long changes are kept. */
  readonly days: number;
  /** Whether to do so also after another process has turned the history off. */
  readonly isStart: boolean;
  /** The longest time that the table is awaited, in milliseconds. Later writers wait behind it. */
  readonly lockMs: number;
}

/**
 * Creates or repairs what records changes.
 *
 * @returns false after another process has turned the history off
 * @throws StoreUnavailable, ForeignTable, or what the driver throws
 */
export async function prepareRecording(
  client: ClientBase,
  { days, isStart, lockMs }: PreparationOptions,
): Promise<boolean> {
  const found = await selectSchema(client);
  if (found.isReadOnly) throw new StoreUnavailable('the server only reads');
  const needsStart = (state: State | undefined) =>
    !state || (!state.isRecorded && (isStart || state.days !== null));
  let state = await selectState(client, found);
  if (needsStart(state))
    await transact(client, 'share row exclusive', lockMs, async () => {
      // Another process may have done it meanwhile.
      const locked = await selectSchema(client);
      if (locked.foreign !== null) throw new ForeignTable(`${locked.foreign} is not a table of this service`);
      if (needsStart(await selectState(client, locked)))
        await client.query(startRecording(locked.schema, days));
      state = await selectState(client, await selectSchema(client));
    });
  if (isStart && state?.days !== days) await client.query('update book_history set days = $1', [days]);
  return isStart || state?.days !== null;
}

/** Stops to record, if this service or another one has started it; what was recorded stays. */
export async function endRecording(client: ClientBase): Promise<void> {
  const { schema, isReadOnly, hasTriggers } = await selectSchema(client);
  if (!hasTriggers || isReadOnly) return;
  await transact(client, 'access exclusive', LOCK_MS, async () => {
    await client.query(stopRecording(schema));
  });
}

async function selectSchema(client: ClientBase): Promise<Schema> {
  const { rows } = await client.query<Schema>(SELECT_SCHEMA);
  const [schema] = rows;
  if (!schema) throw new StoreUnavailable('there is no table books');
  return schema;
}

interface State {
  readonly days: number | null;
  readonly isRecorded: boolean;
}

async function selectState(client: ClientBase, { schema, hasState }: Schema): Promise<State | undefined> {
  if (!hasState) return undefined;
  const { rows } = await client.query<State>(
    `select days, ${IS_RECORDED} as "isRecorded" from ${schema}.book_history`,
  );
  return rows[0];
}

async function transact(
  client: ClientBase,
  mode: string,
  lockMs: number,
  run: () => Promise<void>,
): Promise<void> {
  try {
    await client.query(
      `begin; set local lock_timeout = ${lockMs}; ${END_IF_IDLE}; lock table books in ${mode} mode`,
    );
    await run();
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}
