import { StoreNotReady } from './errors.ts';

export const MIGRATIONS_TABLE = 'bookkeeping_migrations';
/** The version of a schema is the number of its last migration. */
export const SELECT_VERSION = `select coalesce(max(version), 0) as version from ${MIGRATIONS_TABLE}`;

/** @throws StoreNotReady when a schema has migrations that this version of the service does not know */
export function expectKnownVersion(version: number, latest: number): void {
  if (version <= latest) return;
  throw new StoreNotReady(
    `the store was made by a newer version of the service (schema ${version}, this one knows ${latest}); use that version`,
  );
}
