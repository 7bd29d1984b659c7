import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { openPostgresTable } from '../tables/postgres.ts';
import { openSqliteTable } from '../tables/sqlite.ts';
import type { BookTable } from '../tables/table.ts';
import { type Program, ServerProcess } from './server-process.ts';
import { installTextbook, TEXTBOOK } from './textbook.ts';

/** What is compared, by the names that the command line knows. The order is that of the tables. */
export const services = {
  floor: 'the floor',
  sqlite: 'bookkeeping, SQLite',
  postgres: 'bookkeeping, PostgreSQL',
  textbook: 'textbook, PostgreSQL',
} as const;

export type ServiceName = keyof typeof services;

export const SERVICE_NAMES = Object.keys(services) as ServiceName[];

/** A running server, and the table that it works on; the floor has none. */
export interface Service extends AsyncDisposable {
  readonly name: ServiceName;
  /** How it was started, and can be started again on the same books. */
  readonly program: Program;
  readonly server: ServerProcess;
  readonly table?: BookTable;
  /** Its database, where that is one of PostgreSQL. */
  readonly databaseUrl?: string;
}

/** Where a service finds its things. */
export interface Surroundings {
  /** A folder for this service alone. */
  readonly folder: string;
  /** Makes an empty PostgreSQL database. @returns its address */
  readonly createDatabase: () => Promise<string>;
  /** See {@link Program}. */
  readonly launcher?: readonly string[];
}

/** Starts a service as its users do, with default settings, on an empty database. */
export async function startService(name: ServiceName, surroundings: Surroundings): Promise<Service> {
  await mkdir(surroundings.folder, { recursive: true });
  const { openTable, databaseUrl, ...plan } = await plans[name](surroundings);
  const { launcher } = surroundings;
  const program = { ...plan.program, ...(launcher && { launcher }) };
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
  /** Opens the table, which the started service has prepared. */
  readonly openTable?: () => Promise<BookTable>;
  readonly databaseUrl?: string;
}

const ROOT = join(import.meta.dirname, '..', '..');

/** What `npm start` runs. */
const BOOKKEEPING = {
  file: join(ROOT, 'src', 'main.ts'),
  options: packageJson.scripts.start.split(' ').filter((word) => word.startsWith('--')),
};
const FLOOR = join(import.meta.dirname, 'floor.ts');

const plans: Record<ServiceName, (surroundings: Surroundings) => Promise<Plan>> = {
  async floor({ folder }) {
    return { program: { file: FLOOR, folder } };
  },
  async sqlite({ folder }) {
    const path = join(folder, 'books.db');
    return {
      program: { ...BOOKKEEPING, folder, variables: { DB_URL: `sqlite:${path}` } },
      openTable: async () => openSqliteTable(path),
    };
  },
  async postgres({ folder, createDatabase }) {
    const url = await createDatabase();
    return {
      program: { ...BOOKKEEPING, folder, variables: { DB_URL: url } },
      openTable: () => openPostgresTable(url),
      databaseUrl: url,
    };
  },
  async textbook({ folder, createDatabase }) {
    installTextbook();
    const url = await createDatabase();
    return {
      program: { file: TEXTBOOK, folder, variables: { DB_URL: url, NODE_ENV: 'production' } },
      openTable: () => openPostgresTable(url),
      databaseUrl: url,
    };
  },
};
