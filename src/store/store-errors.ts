import { StoreUnavailable } from '../book/book-store-interface.ts';

/** The store cannot be reached or prepared at startup. The message is one line for operators, without secrets. */
export class StoreNotReady extends Error {
  override readonly name = 'StoreNotReady';
}

/** A book is not stored because no id is left for it. Other writes succeed. */
export class IdsExhausted extends StoreUnavailable {
  constructor() {
    super('ids exhausted');
  }
}

export const MIGRATIONS_TABLE = 'bookkeeping_migrations';
/** The version of a schema is the number of its last migration. */
export const SELECT_VERSION = `select coalesce(max(version), 0) as version from ${MIGRATIONS_TABLE}`;

/** @throws StoreNotReady when a schema has migrations that this version of the service does not know */
export function expectKnownVersion(version: number, latest: number): void {
  if (version <= latest) return;
  throw new StoreNotReady(
    `the store was made by a newer version of the service (structure ${version}, this one knows ${latest}); use that version`,
  );
}
