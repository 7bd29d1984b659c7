import { LEFT_OUT, TableRejection } from '../../../book/book-store.ts';
import { type Created, FINGERPRINT_LENGTH, KEY_LIFETIME_SECONDS, keysToRemove } from '../../idempotency.ts';
import { REMOVAL_MS } from '../../limits.ts';
import type { Database, Statement } from '../pool/database.ts';

/**
 * The idempotency keys, which the statements of inserts read and write. Their column `fingerprint` has what the key has created behind the
 * fingerprint, as JSON.
 */

export const IS_EXPIRED = `created_at <= now() - interval '${KEY_LIFETIME_SECONDS} seconds'`;

const FINGERPRINT = `left(fingerprint, ${FINGERPRINT_LENGTH})`;
const CREATED = `substr(fingerprint, ${FINGERPRINT_LENGTH + 1})`;

/** A {@link KeyRow} of a key that was stored just now. */
export const NEW_KEY = `key, ${FINGERPRINT} as fingerprint, ${CREATED} as created, book_id as id`;
/**
 * A {@link KeyRow} of a key that was found. For another request, whose fingerprint differs, `created` is empty.
 *
 * @param isSame a condition for the fingerprint, such as `= $1`
 */
export const foundKey = (isSame: string) =>
  `key, ${FINGERPRINT} as fingerprint, case when ${FINGERPRINT} ${isSame} then ${CREATED} else '' end as created, book_id as id`;

/** Finds idempotency keys, and deletes expired ones. @param isSame as for {@link foundKey} */
export const knownKeys = (condition: string, isSame: string) => `
  live as materialized (
    select ${foundKey(isSame)} from idempotency_keys where ${condition} and not (${IS_EXPIRED})
  ), removed as (
    delete from idempotency_keys where ${condition} and ${IS_EXPIRED} returning key
  )
`;
/** Whether a key may be inserted. The count makes the server delete expired keys before. */
export const isNew = (key: string) => `
  (select count(*) from removed) >= 0 and not exists (select from live where live.key = ${key})
`;
export const KEYS_OF_ALL = 'select * from live union all select * from keyed';

/** An idempotency key, as statements return it. */
export interface KeyRow {
  readonly key: string;
  readonly fingerprint: string;
  readonly created: string;
  readonly id: number;
}

/**
 * What a key has created. Without a row, the only book of the statement was not stored.
 *
 * @returns undefined when the key was used for another request
 * @throws TableRejection
 */
export function createdFor(row: KeyRow | undefined, fingerprint: string): Created | undefined {
  if (!row) throw new TableRejection(LEFT_OUT);
  return row.fingerprint === fingerprint ? { created: Buffer.from(row.created), id: row.id } : undefined;
}

const DELETE_EXPIRED: Statement = {
  name: 'remove keys',
  text: `delete from idempotency_keys where key in (${keysToRemove(IS_EXPIRED)}) returning key`,
};

/** Deletes expired keys at intervals; a failed deletion is repeated at the next one. */
export class KeyRemoval {
  readonly #database: Database;
  #dueAt = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  async removeExpired(): Promise<void> {
    if (performance.now() < this.#dueAt) return;
    this.#dueAt = performance.now() + REMOVAL_MS;
    const removed = await this.#database.query(DELETE_EXPIRED, []).catch(() => []);
    if (removed.length > 0) this.#dueAt = performance.now();
  }
}
