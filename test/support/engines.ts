import { join } from 'node:path';
import { createFolder } from './folder.ts';
import { createDatabase } from './postgres.ts';

/** An engine that every suite about the store or the API runs on. */
export interface Engine {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** Makes a fresh place for books, with nothing in it. */
  createAddress(): Promise<Address>;
}

/** A place for books; disposing takes it away. */
export interface Address extends AsyncDisposable {
  /** What `DB_URL` says to use it. */
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
