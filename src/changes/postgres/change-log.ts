import type { ClientBase } from 'pg';
import { StoreNotReady } from '../../store/errors.ts';
import { END_IF_IDLE } from '../../store/postgres/id-sequence.ts';
import { HAS_OLD_LOG } from '../../store/postgres/migrations.ts';
import { definitionsOf, isRecording, LOG_COLUMNS, startRecording, stopRecording } from './tables.ts';

/** The longest time that a start waits for the table of books, as later writers wait behind it. */
const LOCK_MS = 1_000;

interface LogInspection {
  /** As SQL. */
  readonly schema: string;
  readonly hasLog: boolean;
  readonly hasTriggers: boolean;
  /** The name of a table that is not one of this service. The log of an older version is, until a start drops it. */
  readonly foreign: string | null;
}

const FOREIGN_TABLES = Object.entries(LOG_COLUMNS).map(
  ([table, columns]) => `
      when exists (select from pg_class where oid = to_regclass(schema || '.${table}')) and not array['${columns.join("', '")}'] <@ array(
        select attname::text from pg_attribute
        where attrelid = to_regclass(schema || '.${table}') and attnum > 0 and not attisdropped
      ) then '${table}'`,
);

const SELECT_LOG = `
  select schema,
    to_regclass(schema || '.book_history') is not null
      and to_regclass(schema || '.book_history_changes') is not null as "hasLog",
    exists (select from pg_trigger where tgfoid = to_regproc(schema || '.record_book_history')) as "hasTriggers",
    case when ${HAS_OLD_LOG} then null ${FOREIGN_TABLES.join('')}
    end as foreign
  from (
    select quote_ident(nspname) as schema
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace where pg_class.oid = to_regclass('books')
  ) as of_books
`;

/**
 * Makes the log record the books, or nothing more. What was recorded stays. If it was not defined exactly as this version defines it,
 * it is put right, and a gap is noted.
 *
 * @param days how long changes are kept; undefined to stop
 * @throws StoreNotReady, or what the driver throws
 */
export function defineChangeLog(client: ClientBase, days: number | undefined): Promise<void> {
  return days === undefined ? stop(client) : start(client, days);
}

async function start(client: ClientBase, days: number): Promise<void> {
  const found = await selectLog(client);
  if (found.foreign !== null) throw new StoreNotReady(`${found.foreign} is not a table of this service`);
  if (await transact(client, '', () => resume(client, found, days))) return;
  await transact(client, 'lock table books in share row exclusive mode', async () => {
    // Another process may have done it meanwhile.
    const isRecorded = await resume(client, await selectLog(client), days);
    if (!isRecorded) await client.query(startRecording(found.schema, days));
  });
}

/** Stops, if a service has started it. */
async function stop(client: ClientBase): Promise<void> {
  const { schema, hasTriggers } = await selectLog(client);
  if (hasTriggers)
    await transact(client, 'lock table books in access exclusive mode', () =>
      client.query(stopRecording(schema)),
    );
}

/** @returns whether all changes were recorded since the last gap, and still are */
async function resume(client: ClientBase, { schema, hasLog }: LogInspection, days: number): Promise<boolean> {
  if (!hasLog) return false;
  const { rows } = await client.query<{ days: number }>(
    `select days from ${schema}.book_history
    where days is not null and definitions = '${definitionsOf(schema)}' and ${isRecording(schema)}`,
  );
  if (rows[0] && rows[0].days !== days)
    await client.query(`update ${schema}.book_history set days = ${days}`);
  return rows.length > 0;
}

async function selectLog(client: ClientBase): Promise<LogInspection> {
  const { rows } = await client.query<LogInspection>(SELECT_LOG);
  const [found] = rows;
  if (!found) throw new StoreNotReady('there is no table books');
  return found;
}

/** If it throws, the pool closes the connection, and so the server rolls back. */
async function transact<Result>(
  client: ClientBase,
  lock: string,
  run: () => Promise<Result>,
): Promise<Result> {
  await client.query(`begin; set local lock_timeout = ${LOCK_MS}; ${END_IF_IDLE}; ${lock}`);
  const result = await run();
  await client.query('commit');
  return result;
}
