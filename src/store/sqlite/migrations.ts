import { DatabaseSync } from 'node:sqlite';
import { expectKnownVersion, MIGRATIONS_TABLE, SELECT_VERSION } from '../schema-version.ts';

/** Drops the log, and what versions before 0.3 kept of the search index in the store. The old cursors are then unknown. */
const BEGIN_LOG_ANEW: Migration = {
  sql: `
  ${[
    'search_insert',
    'search_update',
    'search_delete',
    'search_forget',
    'history_insert',
    'history_update',
    'history_move',
    'history_delete',
    'history_removed',
  ]
    .map((name) => `drop trigger if exists book_${name};`)
    .join(' ')}
  drop table if exists book_changes_by_book;
  drop table if exists book_changes;
  drop table if exists book_history;
  drop table if exists book_search_index;
  drop table if exists book_search_starts`,
};

interface Migration {
  readonly sql: string;
  /** The column of `books` that it adds; without effect on a table of another program that has this column. */
  readonly adds?: string;
}

/** Never change a released migration; append another one. The first two keep the tables of adopted and of old stores. */
export const MIGRATIONS: readonly Migration[] = [
  {
    // 1. Without AUTOINCREMENT the highest id is reused after its book was deleted.
    sql: `create table if not exists books (
    id integer primary key autoincrement check (id between 1 and 9007199254740991),
    title text not null,
    author text not null,
    year integer not null check (year between -9007199254740991 and 9007199254740991)
  ) strict`,
  },
  {
    // 2. Times are in seconds since 1970.
    sql: `create table if not exists idempotency_keys (
    key text primary key,
    fingerprint text not null,
    book_id integer not null,
    created_at integer not null
  ) strict, without rowid;
  create index if not exists idempotency_keys_by_age on idempotency_keys (created_at)`,
  },
  // 3.
  BEGIN_LOG_ANEW,
];

/** The columns of `books` that the migrations after a version add. */
export function columnsAddedAfter(version: number): ReadonlySet<string> {
  return new Set(MIGRATIONS.slice(version).flatMap(({ adds = [] }) => adds));
}

/** The tables of books that the migrations have made up to each version, as SQLite keeps them. */
export function ownBooksTables(): ReadonlySet<unknown> {
  using database = new DatabaseSync(':memory:');
  return new Set(
    MIGRATIONS.map(({ sql }) => {
      database.exec(sql);
      return findInSchema(database, 'books')?.sql;
    }),
  );
}

const RECORD_TABLE = `
  create table if not exists ${MIGRATIONS_TABLE} (
    version integer primary key,
    applied_at text not null default (strftime('%Y-%m-%dT%H:%M:%SZ'))
  ) strict
`;

/** Applies and records the missing migrations. Call it in a write transaction, which also excludes other processes. */
export function migrate(database: DatabaseSync): void {
  const recorded = readVersion(database);
  // If the table of books was dropped, all migrations are applied again, except the one that empties the log: it may have the books.
  const version = isInSchema(database, 'books') ? recorded : 0;
  if (version === MIGRATIONS.length) return;
  database.exec(RECORD_TABLE);
  database.prepare(`delete from ${MIGRATIONS_TABLE} where version > ?`).run(version);
  const record = database.prepare(`insert into ${MIGRATIONS_TABLE} (version) values (?)`);
  for (const [index, migration] of MIGRATIONS.entries()) {
    if (index < version) continue;
    const isDone = migration === BEGIN_LOG_ANEW ? index < recorded : hasColumn(database, migration.adds);
    if (!isDone) database.exec(migration.sql);
    record.run(index + 1);
  }
}

function hasColumn(database: DatabaseSync, name: string | undefined): boolean {
  const select = database.prepare("select 1 from pragma_table_xinfo('books') where name = ? collate nocase");
  return name !== undefined && select.get(name) !== undefined;
}

/** The version of the schema, or 0. @throws StoreNotReady when it is newer than this version of the service */
export function readVersion(database: DatabaseSync): number {
  if (!isInSchema(database, MIGRATIONS_TABLE)) return 0;
  const { version } = database.prepare(SELECT_VERSION).get() as { version: number };
  expectKnownVersion(version, MIGRATIONS.length);
  return version;
}

/** Whether there is a table, a trigger or another object of this name, in any case: as SQLite compares them, which is that of ASCII. */
export function isInSchema(database: DatabaseSync, name: string): boolean {
  return findInSchema(database, name) !== undefined;
}

interface SchemaObject {
  readonly type: 'table' | 'view' | 'index' | 'trigger';
  /** As it was created. */
  readonly name: string;
  readonly sql: string | null;
}

/** The table, view, index or trigger of a name, in any letter case, as SQLite compares names. */
export function findInSchema(database: DatabaseSync, name: string): SchemaObject | undefined {
  const select = database.prepare('select type, name, sql from sqlite_schema where name = ? collate nocase');
  return select.get(name) as SchemaObject | undefined;
}
