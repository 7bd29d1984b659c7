import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type Created, FINGERPRINT_LENGTH, KEY_LIFETIME_SECONDS, keysToRemove } from '../../idempotency.ts';

/**
 * The idempotency keys, read and written in the transactions of the write thread. Their column `fingerprint` has what the key has created
 * behind the fingerprint, as JSON.
 */
export class IdempotencyKeys {
  readonly #select: StatementSync;
  readonly #replace: StatementSync;
  readonly #deleteExpired: StatementSync;

  /** Texts are blobs in JavaScript, as strings may need more memory than the thread has. */
  constructor(database: DatabaseSync) {
    const isExpired = `created_at <= unixepoch() - ${KEY_LIFETIME_SECONDS}`;
    this.#select = database.prepare(`
      select book_id as id, case when substr(fingerprint, 1, ${FINGERPRINT_LENGTH}) = ?
        then cast(substr(fingerprint, ${FINGERPRINT_LENGTH + 1}) as blob) end as created
      from idempotency_keys where key = ? and not (${isExpired})
    `);
    this.#replace = database.prepare(`
      insert or replace into idempotency_keys (key, fingerprint, book_id, created_at)
      values (?, ? || cast(? as text), ?, unixepoch())
    `);
    this.#deleteExpired = database.prepare(`
      delete from idempotency_keys where key in (${keysToRemove(isExpired)})
    `);
  }

  /** @returns what the key has created, or that it is of another request; undefined when it is new */
  find(key: string, fingerprint: string): Created | 'other request' | undefined {
    const row = this.#select.get(fingerprint, key) as Created | { created: null } | undefined;
    return row?.created === null ? 'other request' : row;
  }

  add(key: string, fingerprint: string, { created, id }: Created): void {
    this.#replace.run(key, fingerprint, created, id);
  }

  /** Removes expired keys. @returns whether there may be more of them */
  removeExpired(): boolean {
    return this.#deleteExpired.run().changes > 0;
  }
}
