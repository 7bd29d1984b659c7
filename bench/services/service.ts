import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { openPostgresTable } from '../tables/postgres.ts';
import { openSqliteTable } from '../tables/sqlite.ts';
import type { BookTable } from '../tables/table.ts';
import { installPeer } from './peers.ts';
import { type Program, ServerProcess } from './server-process.ts';

/** The titles of the compared services, by their names on the command line, in the order of the tables. */
export const services = {
  floor: 'floor',
  sqlite: 'bookkeeping, SQLite',
  postgres: 'bookkeeping, PostgreSQL',
  'elysia-sqlite': 'Elysia, SQLite',
  'elysia-postgres': 'Elysia, PostgreSQL',
  textbook: 'textbook, PostgreSQL',
} as const;

export type ServiceName = keyof typeof services;

export const SERVICE_NAMES = Object.keys(services) as ServiceName[];

/** A running server. */
export interface Service extends AsyncDisposable {
  readonly name: ServiceName;
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
  /** See {@link Program}. */
  readonly launcher?: readonly string[];
  /** Further settings. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Starts a service on an empty database, with default settings unless others are given. */
export async function startService(name: ServiceName, dependencies: Dependencies): Promise<Service> {
  await mkdir(dependencies.folder, { recursive: true });
  const { openTable, databaseUrl, ...plan } = await plans[name](dependencies);
  const { launcher } = dependencies;
  const variables = { ...plan.program.variables, ...dependencies.variables };
  const program = { ...plan.program, variables, ...(launcher && { launcher }) };
  const server = await ServerProcess.start(program);
  const table = await openTable?.();
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

interface Plan {
  readonly program: Program;
  /** Call it after the start of the service, which creates the table. */
  readonly openTable?: () => Promise<BookTable>;
  readonly databaseUrl?: string;
}

const ROOT = join(import.meta.dirname, '..', '..');

/** `npm start`. */
const BOOKKEEPING = [
  process.execPath,
  ...packageJson.scripts.start.split(' ').filter((word) => word.startsWith('--')),
  join(ROOT, 'bin', 'bookkeeping.mjs'),
];
const FLOOR = [process.execPath, join(import.meta.dirname, 'floor.ts')];

const plans: Record<ServiceName, (dependencies: Dependencies) => Promise<Plan>> = {
  floor: async ({ folder }) => ({ program: { command: FLOOR, folder } }),
  sqlite: (dependencies) => onSqlite(BOOKKEEPING, dependencies),
  postgres: (dependencies) => onPostgres(BOOKKEEPING, dependencies),
  'elysia-sqlite': (dependencies) => onSqlite(elysia(), dependencies),
  'elysia-postgres': (dependencies) => onPostgres(elysia(), dependencies),
  textbook: (dependencies) =>
    onPostgres([process.execPath, join(installPeer('textbook'), 'server.mjs')], dependencies),
};

function elysia(): string[] {
  const folder = installPeer('elysia');
  return [join(folder, 'node_modules', '.bin', 'bun'), join(folder, 'server.mjs')];
}

async function onSqlite(command: readonly string[], { folder }: Dependencies): Promise<Plan> {
  const path = join(folder, 'books.db');
  return {
    program: { command, folder, variables: { ...PRODUCTION, DB_URL: `sqlite:${path}` } },
    openTable: async () => openSqliteTable(path),
  };
}

async function onPostgres(
  command: readonly string[],
  { folder, createDatabase }: Dependencies,
): Promise<Plan> {
  const url = await createDatabase();
  return {
    program: { command, folder, variables: { ...PRODUCTION, DB_URL: url } },
    openTable: () => openPostgresTable(url),
    databaseUrl: url,
  };
}

/** For the peers; the service reads it only when a secret is missing. */
const PRODUCTION = { NODE_ENV: 'production' };
