import { join } from 'node:path';
import { type Cluster, startCluster } from './cluster.ts';

let cluster: Cluster | undefined;

/** Starts the PostgreSQL server of `createDatabase`, which all test files of a run share. */
export async function globalSetup(): Promise<void> {
  try {
    // It creates and drops hundreds of databases, and every drop would wait for the disk.
    cluster = await startCluster({ isSynced: false });
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
  // Test files run in separate processes: a shared compile cache halves the cost of imports. It is that of the service.
  process.env.NODE_COMPILE_CACHE = join(import.meta.dirname, '../node_modules/.cache/compiled');
  process.env.TEST_POSTGRES_URL = cluster.url;
  process.env.TEST_POSTGRES_PROGRAMS = cluster.programs;
}

/** Deletes the server. An interrupted run calls this more than once. */
export async function globalTeardown(): Promise<void> {
  await cluster?.[Symbol.asyncDispose]();
}
