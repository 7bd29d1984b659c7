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
export const engines: readonly Engine[] = [
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

async function createPostgresAddress(): Promise<Address> {
  const database = await createDatabase();
  return { dbUrl: database.url, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
}
