import type { ClientBase } from 'pg';
import { ID_MAX, YEAR_MAX } from '../../book/book.ts';
import { StoreNotReady } from '../store-errors.ts';
import { isUnsupported } from './errors.ts';
import { CHECKS, migrate, readState } from './migrations.ts';

/**
 * Prepares the storage structure: creates the table of books, or adopts one that fits, without a change to its
 * columns and rows, and then a table for the keys of creates. Safe when several processes do it at once.
 *
 * @throws StoreNotReady when the database or a table of that name does not fit
 */
export async function prepareSchema(client: ClientBase): Promise<void> {
  await expectUtf8(client);
  const { version, relations } = await readState(client);
  const isNew = !relations.has('books');
  // A table that does not fit ends the start before anything is changed.
  if (!isNew) await expectFitting(client);
  await migrate(client, version);
  if (isNew) await expectFitting(client);
  await advanceIdSequence(client);
}

async function expectFitting(client: ClientBase): Promise<void> {
  await expectPrivileges(client);
  await expectBooks(client);
}

/** @throws StoreNotReady when the database cannot keep every text */
export async function expectUtf8(client: ClientBase): Promise<void> {
  const [database] = await query<{ encoding: string }>(
    client,
    `select current_setting('server_encoding') as encoding`,
  );
  if (database?.encoding !== 'UTF8') {
    throw new StoreNotReady(`the encoding of the database is ${database?.encoding}, but must be UTF8`);
  }
}

/** Looks at the table of books, which is there. @throws StoreNotReady when it does not fit */
export async function expectBooks(client: ClientBase): Promise<void> {
  await expectColumns(client);
  await expectExactNumbers(client);
}

/** What a service does with books. */
const PRIVILEGES = ['select', 'insert', 'update', 'delete'];

/**
 * Asks whether this user may do what a service does; rights on the columns alone suffice, where SQL has them.
 *
 * @throws StoreNotReady when a privilege is missing
 */
export async function expectPrivileges(client: ClientBase, privileges = PRIVILEGES): Promise<void> {
  const lacking = await query<{ privilege: string }>(
    client,
    `select privilege from unnest(array['${privileges.join("', '")}']) as privilege
     where not case privilege when 'delete' then has_table_privilege(to_regclass('books'), privilege)
       else has_any_column_privilege(to_regclass('books'), privilege) end`,
  ).catch(emptyIfUnsupported);
  if (lacking.length === 0) return;
  const names = lacking.map(({ privilege }) => privilege).join(', ');
  throw new StoreNotReady(`this user may not ${names} in the table books`);
}

/**
 * Moves the sequence of ids past the highest id in the table. It lags behind where clients chose ids.
 */
export async function advanceIdSequence(client: ClientBase): Promise<void> {
  const sequence = await query<{ lags: boolean | null }>(client, `select ${LAG} as lags`).catch(
    emptyIfUnsupported,
  );
  if (!sequence[0]?.lags) return;
  try {
    await client.query('begin');
    await client.query(LOCK_IDS);
    await client.query(ADVANCE_ID_SEQUENCE);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

const LAG = `(select max(id) from books) > coalesce(pg_sequence_last_value(pg_get_serial_sequence('books', 'id')::regclass), 0)`;

/** Keeps others from drawing an id until the end of the transaction. */
export const LOCK_IDS = 'lock table books in share row exclusive mode';

/** What {@link advanceIdSequence} does while ids are locked; otherwise it could give out an id that was drawn in between. */
export const ADVANCE_ID_SEQUENCE = `select setval(pg_get_serial_sequence('books', 'id'), (select max(id) from books)) where ${LAG}`;

/** Engines that lack what a question needs are used without its answer. */
function emptyIfUnsupported(error: unknown): [] {
  if (!isUnsupported(error)) throw error;
  return [];
}

async function expectColumns(client: ClientBase): Promise<void> {
  const [table] = await query<{ isTable: boolean }>(
    client,
    `select relkind in ('r', 'p') as "isTable" from pg_class where oid = to_regclass('books')`,
  );
  if (!table) throw new StoreNotReady('there is no table books');
  if (!table.isTable) throw new StoreNotReady('books is something else than a table');

  const columns = await query<{ name: string; type: string; hasDefault: boolean; isRequired: boolean }>(
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
  const demanding = columns.find(
    ({ name, isRequired, hasDefault }) => !(name in COLUMNS) && isRequired && !hasDefault,
  );
  if (demanding) throw new StoreNotReady(`the column ${demanding.name} of the table books demands a value`);
}

const COLUMNS = { id: 'bigint', title: 'text', author: 'text', year: 'bigint' };

/** An adopted table may hold numbers that a JSON number cannot carry; ours cannot. */
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
