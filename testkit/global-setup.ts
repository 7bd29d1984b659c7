import { readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserServer } from 'playwright-core';
import { BROWSER, startBrowserServer } from './browser-server.ts';
import { type Cluster, startCluster } from './cluster.ts';

let cluster: Cluster | undefined;
let browser: BrowserServer | undefined;

const BROWSER_START_MS = 60_000;

/**
 * Starts the PostgreSQL server of `createDatabase` and the browser of `TestBrowser`, which all test files of a run share. Of the windows
 * of a Firefox one is active, and the others get neither frames nor the focus, so each file starts its own.
 */
export async function globalSetup(): Promise<void> {
  await shareCluster();
  if (BROWSER === 'firefox') return;
  try {
    browser = await startBrowserServer(BROWSER_START_MS);
    process.env.TEST_BROWSER_URL = browser.wsEndpoint();
  } catch (error) {
    process.env.TEST_BROWSER_REASON = (error as Error).message;
  }
}

/** Starts the PostgreSQL server of `createDatabase`, which the processes of a run share; {@link globalTeardown} deletes it. */
export async function shareCluster(): Promise<void> {
  const memoryDisk = findMemoryDisk();
  if (memoryDisk !== undefined) process.env.TMPDIR = memoryDisk;
  try {
    // It creates and drops hundreds of databases, and every drop would wait for the disk.
    cluster = await startCluster({ isSynced: false, isTemplate: true });
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
  // Test files run in separate processes: a shared compile cache halves the cost of imports. It is that of the service.
  process.env.NODE_COMPILE_CACHE = join(import.meta.dirname, '../node_modules/.cache/compiled');
  process.env.TEST_POSTGRES_URL = cluster.url;
  process.env.TEST_POSTGRES_PROGRAMS = cluster.programs;
}

/** Deletes the server, and closes the browser. An interrupted run calls this more than once. */
export async function globalTeardown(): Promise<void> {
  await browser?.close();
  await cluster?.[Symbol.asyncDispose]();
}

const MEMORY_DISK = '/dev/shm';
const MEMORY_BYTES_MIN = 2 * 1_024 ** 3;

/**
 * Finds a folder in memory for the files of the tests, where no commit waits for a disk: a process that is killed, which is what
 * they test, loses nothing there.
 *
 * @returns undefined where there is none, it has little space, or programs do not run there
 */
function findMemoryDisk(): string | undefined {
  try {
    const [, options = 'noexec'] = / \/dev\/shm \S+ (\S+)/.exec(readFileSync('/proc/mounts', 'utf8')) ?? [];
    const { bavail, bsize } = statfsSync(MEMORY_DISK);
    return options.includes('noexec') || bavail * bsize < MEMORY_BYTES_MIN ? undefined : MEMORY_DISK;
  } catch {
    return undefined;
  }
}
