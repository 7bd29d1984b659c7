import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { openPostgresTable } from '../tables/postgres.ts';
import { openSqliteTable } from '../tables/sqlite.ts';
import type { BookTable } from '../tables/table.ts';
import { buildGoPeer, installElysia } from './peers.ts';
import { type Program, ServerProcess } from './server-process.ts';

/** The titles of the compared services, by their names on the command line, in the order of the tables. */
export const services = {
  floor: 'floor',
  sqlite: 'bookkeeping, SQLite',
  postgres: 'bookkeeping, PostgreSQL',
  'elysia-sqlite': 'Elysia, SQLite',
  'elysia-postgres': 'Elysia, PostgreSQL',
  'go-sqlite': 'Go, SQLite',
  'go-postgres': 'Go, PostgreSQL',
} as const;

export type ServiceName = keyof typeof services;

export const SERVICE_NAMES = Object.keys(services) as ServiceName[];

export const ENGINES = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const;
/** Also the name of the service on it. */
export type Engine = keyof typeof ENGINES;

/** The services that implement the same contract with fast tools, without a log and limits. */
export const PEERS = { elysia: 'Elysia', go: 'Go' } as const;
export type Peer = keyof typeof PEERS;

export function isPeer(name: ServiceName): boolean {
  return Object.keys(PEERS).some((peer) => name.startsWith(`${peer}-`));
}

/** What a service may keep besides the books: the titles of the rows of a table. */
export const KEPT = {
  neither: 'neither',
  history: 'a history',
  index: 'a search index',
  both: 'both',
} as const;
export type Kept = keyof typeof KEPT;

/** A running server. */
export interface Service extends AsyncDisposable {
  readonly name: ServiceName;
  /** Only where services that keep different things are compared. */
  readonly kept?: Kept;
  /** Starts the server again on the same books. */
  readonly program: Program;
  readonly server: ServerProcess;
  /** Absent for the floor. */
  readonly table?: BookTable;
  /** Only for PostgreSQL. */
  readonly databaseUrl?: string;
}

export interface Dependencies {
  /** For this service only. */
  readonly folder: string;
  /** Creates an empty PostgreSQL database. @returns its URL */
  readonly createDatabase: () => Promise<string>;
  /** The clone of the project whose service is started; by default this one. */
  readonly root?: string;
  /** Further settings. */
  readonly variables?: Readonly<Record<string, string>>;
}

/**
 * Starts a service on an empty database, with default settings unless others are given.
 *
 * @returns undefined when it needs a program that is not installed
 */
export async function startIfInstalled(
  name: ServiceName,
  dependencies: Dependencies,
): Promise<Service | undefined> {
  const { folder, createDatabase, variables, root = ROOT } = dependencies;
  const command = commands[name](root);
  if (!command) return undefined;
  await mkdir(folder, { recursive: true });
  const sqliteFile = join(folder, 'books.db');
  const databaseUrl = engineOf(name) === 'postgres' ? await createDatabase() : undefined;
  const program = {
    command,
    folder,
    variables: {
      // For the peers; the service reads it only when a secret is missing.
      NODE_ENV: 'production',
      DB_URL: databaseUrl ?? `sqlite:${sqliteFile}`,
      ...variables,
    },
  };
  const server = await ServerProcess.start(program);
  // The service has created the table.
  const table =
    databaseUrl !== undefined
      ? await openPostgresTable(databaseUrl)
      : name === 'floor'
        ? undefined
        : openSqliteTable(sqliteFile);
  return {
    name,
    program,
    server,
    ...(table && { table }),
    ...(databaseUrl !== undefined && { databaseUrl }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await table?.[Symbol.asyncDispose]();
    },
  };
}

/** As {@link startIfInstalled}, for a service that needs no other program. */
export async function startService(name: Engine | 'floor', dependencies: Dependencies): Promise<Service> {
  const service = await startIfInstalled(name, dependencies);
  if (!service) throw new Error(`${name} cannot run`);
  return service;
}

const ROOT = join(import.meta.dirname, '..', '..');
const NODE_OPTIONS = packageJson.scripts.start.split(' ').filter((word) => word.startsWith('--'));

/** As `npm start` does. */
const bookkeeping = (root: string) => [
  process.execPath,
  ...NODE_OPTIONS,
  join(root, 'bin', 'bookkeeping.mjs'),
];

const elysia = () => {
  const folder = installElysia();
  return [join(folder, 'node_modules', '.bin', 'bun'), join(folder, 'server.mjs')];
};

const go = () => {
  const program = buildGoPeer();
  return program === undefined ? undefined : [program];
};

const commands: Record<ServiceName, (root: string) => readonly string[] | undefined> = {
  floor: () => [process.execPath, join(import.meta.dirname, 'floor.ts')],
  sqlite: bookkeeping,
  postgres: bookkeeping,
  'elysia-sqlite': elysia,
  'elysia-postgres': elysia,
  'go-sqlite': go,
  'go-postgres': go,
};

function engineOf(name: ServiceName): Engine | undefined {
  if (name === 'floor') return undefined;
  return name.endsWith('sqlite') ? 'sqlite' : 'postgres';
}
