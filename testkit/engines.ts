import { join } from 'node:path';
import { createFolder } from './folder.ts';
import { createDatabase } from './postgres.ts';

/** An engine that the tests of the store and the API run on. */
export interface Engine {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** Creates an empty database. */
  createAddress(): Promise<Address>;
}

/** A database; disposing deletes it. */
export interface Address extends AsyncDisposable {
  /** The value of `DB_URL`. */
  readonly dbUrl: string;
}

/** All engines: `for (const engine of engines) suite(engine.name, …)`. */
export let engines: readonly Engine[] = [
  { name: 'SQLite', createAddress: createSqliteAddress },
  { name: 'PostgreSQL', createAddress: createPostgresAddress },
];

async function createSqliteAddress(): Promise<Address> {
  const folder = await createFolder();
  return {
    dbUrl: `sqlite:${join(folder.path, 'books.db')}`,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/**
 * From now on, PostgreSQL is the only engine, and its databases look as if Citus distributed their tables: the service then
 * sends its statements for Citus, which a plain server executes, too.
 */
export function emulateCitus(): void {
  engines = [{ name: 'PostgreSQL', createAddress: createCitusAddress }];
}

async function createCitusAddress(): Promise<Address> {
  const database = await createDatabase();
  await database.query(CITUS);
  return { dbUrl: database.url, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
}

const CITUS = `
  create view pg_dist_partition as
  select to_regclass(name) as logicalrelid from unnest(array['books', 'idempotency_keys']) as name;
  create view pg_dist_shard as
  select to_regclass('books') as logicalrelid, (number * 134217728 - 2147483648)::text as shardminvalue
  from generate_series(0::bigint, 31) as number;
`;

async function createPostgresAddress(): Promise<Address> {
  const database = await createDatabase();
  return { dbUrl: database.url, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
}
