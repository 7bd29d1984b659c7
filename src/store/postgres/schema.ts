import type { ClientBase } from 'pg';
import { ID_MAX, YEAR_MAX } from '../../book/book.ts';
import { StoreNotReady } from '../errors.ts';
import { CHECKS, migrate, readState } from './migrations.ts';
import { expectRights, STORE_RIGHTS } from './rights.ts';

/**
 * Creates the tables, or adopts an existing table of books unchanged.
 *
 * @throws StoreNotReady when this is impossible
 */
export async function prepareSchema(client: ClientBase): Promise<void> {
  await expectUtf8(client);
  await expectRights(client, STORE_RIGHTS);
  const { version, relations } = await readState(client);
  // An existing table is checked before anything is changed.
  if (relations.has('books')) await expectBooks(client);
  await migrate(client, version);
  await advanceIdSequence(client);
}

/** @throws StoreNotReady when the database cannot store every text */
export async function expectUtf8(client: ClientBase): Promise<void> {
  const sql = `select current_setting('server_encoding') as encoding`;
  const [{ encoding } = {}] = await query<{ encoding?: string }>(client, sql);
  if (encoding !== 'UTF8') {
    throw new StoreNotReady(`the encoding of the database is ${encoding}, but must be UTF8`);
  }
}

/** @throws StoreNotReady when the table of books is unsuitable */
export async function expectBooks(client: ClientBase): Promise<void> {
  await expectColumns(client);
  await expectExactNumbers(client);
}

/** Advances the id sequence past the highest id in the table; it lags where other clients insert ids. */
export async function advanceIdSequence(client: ClientBase): Promise<void> {
  if ((await query(client, `select 1 where ${LAG}`)).length === 0) return;
  try {
    await client.query('begin');
    await client.query(END_IF_IDLE);
    await client.query(LOCK_IDS);
    await client.query(ADVANCE_ID_SEQUENCE);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

const ID_SEQUENCE = `pg_get_serial_sequence('books', 'id')`;
const LAST_ID = `coalesce(pg_sequence_last_value(${ID_SEQUENCE}::regclass), 0)`;
/** Beyond the exact numbers no id may be assigned: see `HAS_EXACT_ID`. */
const HIGHEST_ID = `(select max(id) from books where id <= ${ID_MAX})`;
const LAG = `${HIGHEST_ID} > ${LAST_ID}`;

/** Others wait for a lock of the table, so it must not outlive a service that is cut off from the server. */
const LOCKED_TIMEOUT_MS = 5_000;

/** The server ends the transaction, and closes its connection, when the next statement does not follow in time. */
export const END_IF_IDLE = `set local idle_in_transaction_session_timeout = ${LOCKED_TIMEOUT_MS}`;

/** Blocks inserts of others until the end of the transaction. */
export const LOCK_IDS = 'lock table books in share row exclusive mode';
/** Requires {@link LOCK_IDS}: otherwise an id could be assigned in between, and then again. */
export const ADVANCE_ID_SEQUENCE = `select setval(${ID_SEQUENCE}, ${HIGHEST_ID}) where ${LAG}`;

async function expectColumns(client: ClientBase): Promise<void> {
  const [table] = await query<{ isTable: boolean }>(
    client,
    `select relkind in ('r', 'p') as "isTable" from pg_class where oid = to_regclass('books')`,
  );
  if (!table) throw new StoreNotReady('there is no table books');
  if (!table.isTable) throw new StoreNotReady('books is not a table');

  const columns = await query<{
    name: string;
    type: string;
    hasDefault: boolean;
    isRequired: boolean;
  }>(
    client,
    `select attname as name, format_type(atttypid, atttypmod) as type,
       atthasdef or attidentity <> '' as "hasDefault", attnotnull as "isRequired"
     from pg_attribute where attrelid = to_regclass('books') and attnum > 0 and not attisdropped`,
  );
  for (const [name, type] of Object.entries(COLUMNS)) {
    const column = columns.find((candidate) => candidate.name === name);
    if (!column) throw new StoreNotReady(`the table books has no column ${name}`);
    if (column.type !== type) {
      throw new StoreNotReady(`the column ${name} of the table books is ${column.type}, not ${type}`);
    }
    if (name === 'id' && !column.hasDefault)
      throw new StoreNotReady('the table books does not generate its ids');
  }
  const required = columns.find(
    ({ name, isRequired, hasDefault }) => !(name in COLUMNS) && isRequired && !hasDefault,
  );
  if (required) throw new StoreNotReady(`the column ${required.name} of the table books requires a value`);
}

/** Those of the first migration: an adopted table has them before the others are applied. */
const COLUMNS = { id: 'bigint', title: 'text', author: 'text', year: 'bigint' };

/** An adopted table may contain numbers that a JSON number does not represent exactly. */
async function expectExactNumbers(client: ClientBase): Promise<void> {
  const constraints = await query(
    client,
    `select 1 from pg_constraint where conrelid = to_regclass('books') and conname in ('${CHECKS.join("', '")}')`,
  );
  if (constraints.length === CHECKS.length) return;
  const [row] = await query(
    client,
    `select 1 from books where id not between -${ID_MAX} and ${ID_MAX} or year not between -${YEAR_MAX} and ${YEAR_MAX} limit 1`,
  );
  if (row) throw new StoreNotReady('the table books has a row whose id or year is beyond ±(2^53-1)');
}

async function query<Row extends object>(client: ClientBase, text: string): Promise<Row[]> {
  const { rows } = await client.query<Row>(text);
  return rows;
}
