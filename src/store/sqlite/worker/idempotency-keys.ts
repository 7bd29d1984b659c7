import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { BookFields } from '../../../book/book.ts';
import { fingerprintOf, KEY_LIFETIME_SECONDS } from '../../idempotency.ts';
import { REMOVAL_MAX } from '../../store-limits.ts';

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

  /** @returns the id of the book that the key has created; null when its fields were others */
  find(key: string, fields: BookFields): number | null | undefined {
    const row = this.#select.get(key) as { fingerprint: string; id: number } | undefined;
    if (!row) return undefined;
    return row.fingerprint === fingerprintOf(fields) ? row.id : null;
  }

  add(key: string, fields: BookFields, id: number): void {
    this.#replace.run(key, fingerprintOf(fields), id);
  }

  /** Removes expired keys. @returns whether there may be more of them */
  removeExpired(): boolean {
    return this.#deleteExpired.run().changes === REMOVAL_MAX;
  }
}
