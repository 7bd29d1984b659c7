import { type Cluster, startCluster } from './cluster.ts';

let cluster: Cluster | undefined;

/** Starts the PostgreSQL server that all test files of a run share. They find it by {@link createDatabase}. */
export async function globalSetup(): Promise<void> {
  try {
    cluster = await startCluster();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
  process.env.TEST_POSTGRES_URL = cluster.url;
  process.env.TEST_POSTGRES_PROGRAMS = cluster.programs;
}

/** Takes the server away. An interrupted run calls this more than once. */
export async function globalTeardown(): Promise<void> {
  await cluster?.[Symbol.asyncDispose]();
}
