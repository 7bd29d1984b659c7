import type { ClientBase } from 'pg';
import { ID_MAX } from '../../book/book.ts';

/** Advances the id sequence past the highest id in the table; it lags where other clients insert ids. */
export async function advanceIdSequence(client: ClientBase): Promise<void> {
  if ((await client.query(`select 1 where ${LAG}`)).rows.length === 0) return;
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
