import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { BookFields } from '../../../book/book.ts';
import { fingerprintOf, KEY_LIFETIME_SECONDS, KEY_REMOVAL_MAX, KEY_REMOVAL_MS } from '../../idempotency.ts';

/** The keys of creates that are to happen once, within the transactions of the thread that writes. */
export class IdempotencyKeys {
  readonly #select: StatementSync;
  readonly #replace: StatementSync;
  readonly #removeExpired: StatementSync;
  #removalDueAt = 0;

  constructor(database: DatabaseSync) {
    const isExpired = `created_at <= unixepoch() - ${KEY_LIFETIME_SECONDS}`;
    this.#select = database.prepare(`
      select fingerprint, book_id as id from idempotency_keys where key = ? and not (${isExpired})
    `);
    this.#replace = database.prepare(`
      insert or replace into idempotency_keys (key, fingerprint, book_id, created_at) values (?, ?, ?, unixepoch())
    `);
    this.#removeExpired = database.prepare(`
      delete from idempotency_keys
      where key in (select key from idempotency_keys where ${isExpired} order by created_at limit ${KEY_REMOVAL_MAX})
    `);
  }

  /** @returns the id of the book that the key has created; null when that was one of other fields */
  find(key: string, fields: BookFields): number | null | undefined {
    const row = this.#select.get(key) as { fingerprint: string; id: number } | undefined;
    if (!row) return undefined;
    return row.fingerprint === fingerprintOf(fields) ? row.id : null;
  }

  /** Remembers that a key has created a book. */
  remember(key: string, fields: BookFields, id: number): void {
    this.#replace.run(key, fingerprintOf(fields), id);
  }

  /** Removes some of what is too old, now and then. */
  maintain(): void {
    if (performance.now() < this.#removalDueAt) return;
    this.#removalDueAt = performance.now() + KEY_REMOVAL_MS;
    if (this.#removeExpired.run().changes === KEY_REMOVAL_MAX) this.#removalDueAt = performance.now();
  }
}
