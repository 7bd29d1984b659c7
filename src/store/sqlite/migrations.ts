import type { DatabaseSync } from 'node:sqlite';
import { ID_MAX, YEAR_MAX } from '../../book/book.ts';
import { expectKnownVersion, MIGRATIONS_TABLE, SELECT_VERSION } from '../store-errors.ts';

/**
 * The steps that make the structure; the first one is step 1. A released step never changes: append another one. The first
 * two leave alone what is there, because stores made before steps were recorded have it, and so has an adopted table.
 */
const STEPS: readonly string[] = [
  // AUTOINCREMENT: otherwise the highest id is given out again after its book was deleted.
  `create table if not exists books (
    id integer primary key autoincrement check (id between 1 and ${ID_MAX}),
    title text not null,
    author text not null,
    year integer not null check (year between -${YEAR_MAX} and ${YEAR_MAX})
  ) strict`,
  // Times are in seconds since 1970.
  `create table if not exists idempotency_keys (
    key text primary key,
    fingerprint text not null,
    book_id integer not null,
    created_at integer not null
  ) strict, without rowid;
  create index if not exists idempotency_keys_by_age on idempotency_keys (created_at)`,
];

const CREATE_MIGRATIONS_TABLE = `
  create table if not exists ${MIGRATIONS_TABLE} (
    version integer primary key,
    applied_at text not null default (strftime('%Y-%m-%dT%H:%M:%SZ'))
  ) strict
`;

/** Applies and records the steps that the store lacks. Call it in a write transaction, which also excludes other processes. */
export function migrate(database: DatabaseSync): void {
  const recorded = readVersion(database);
  // Without its table of books a store is empty, whatever is recorded: somebody has dropped the table.
  const version = hasTable(database, 'books') ? recorded : 0;
  if (version === STEPS.length) return;
  database.exec(CREATE_MIGRATIONS_TABLE);
  database.prepare(`delete from ${MIGRATIONS_TABLE} where version > ?`).run(version);
  const record = database.prepare(`insert into ${MIGRATIONS_TABLE} (version) values (?)`);
  for (const [index, step] of STEPS.entries()) {
    if (index < version) continue;
    database.exec(step);
    record.run(index + 1);
  }
}

/**
 * The version of the structure; 0 where no step is recorded.
 *
 * @throws StoreNotReady when it is newer than this version of the service
 */
export function readVersion(database: DatabaseSync): number {
  if (!hasTable(database, MIGRATIONS_TABLE)) return 0;
  const { version } = database.prepare(SELECT_VERSION).get() as { version: number };
  expectKnownVersion(version, STEPS.length);
  return version;
}

/** Whether there is a table of this name, whatever its form. */
export function hasTable(database: DatabaseSync, name: string): boolean {
  return database.prepare('select 1 from sqlite_schema where name = ?').get(name) !== undefined;
}
