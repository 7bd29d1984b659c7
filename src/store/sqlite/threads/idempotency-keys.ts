import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { KEY_LIFETIME_SECONDS } from '../../idempotency.ts';
import { REMOVAL_MAX } from '../../limits.ts';

/** The idempotency keys, read and written in the transactions of the write thread. */
export class IdempotencyKeys {
  readonly #select: StatementSync;
  readonly #replace: StatementSync;
  readonly #deleteExpired: StatementSync;

  constructor(database: DatabaseSync) {
    const isExpired = `created_at <= unixepoch() - ${KEY_LIFETIME_SECONDS}`;
    this.#select = database.prepare(`
      select fingerprint, book_id as id from idempotency_keys where key = ? and not (${isExpired})
    `);
    this.#replace = database.prepare(`
      insert or replace into idempotency_keys (key, fingerprint, book_id, created_at) values (?, ?, ?, unixepoch())
    `);
    this.#deleteExpired = database.prepare(`
      delete from idempotency_keys
      where key in (select key from idempotency_keys where ${isExpired} order by created_at limit ${REMOVAL_MAX})
    `);
  }

  /** @returns the id of the first book that the key has created; null when its fingerprint was another */
  find(key: string, fingerprint: string): number | null | undefined {
    const row = this.#select.get(key) as { fingerprint: string; id: number } | undefined;
    if (!row) return undefined;
    return row.fingerprint === fingerprint ? row.id : null;
  }

  /** @param id that of the first book; those of the others follow it, as one transaction writes at a time */
  add(key: string, fingerprint: string, id: number): void {
    this.#replace.run(key, fingerprint, id);
  }

  /** Removes expired keys. @returns whether there may be more of them */
  removeExpired(): boolean {
    return this.#deleteExpired.run().changes === REMOVAL_MAX;
  }
}
