import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFolder } from '../support/folder.ts';
import { createDatabase, type Database } from '../support/postgres.ts';
import { type ServiceProcess, startService, tokenFrom } from './service-process.ts';

/** What `node` gets so that every answer names the process that gave it, and the one that started that. */
export const NAMING_PROCESSES = [
  '--import',
  `data:text/javascript,${encodeURIComponent(`
    import { subscribe } from 'node:diagnostics_channel';
    subscribe('http.server.request.start', ({ response }) => {
      response.setHeader('x-pid', process.pid).setHeader('x-parent', process.ppid);
    });
  `)}`,
];

/** What {@link startTwoWorkers} makes a service say, once. */
export const GREETING =
  'bookkeeping: warning: SECRET_TOKEN is shorter than 32 bytes\n' +
  'bookkeeping: generated AUTH_USERNAME, AUTH_PASSWORD in .env\n';

/** A service in two workers on PostgreSQL. Disposing kills it, and takes its books away. */
export interface TwoWorkers extends AsyncDisposable {
  readonly service: ServiceProcess;
  readonly pids: readonly number[];
  /** A good token. */
  readonly token: string;
  readonly database: Database;
  /** The file with its whole configuration. */
  readonly envFile: string;
}

/** Starts a service in two workers, and waits until both of them answer. */
export async function startTwoWorkers(): Promise<TwoWorkers> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await createFolder());
  const database = parts.use(await createDatabase());
  const envFile = join(folder.path, '.env');
  await writeFile(envFile, `DB_URL=${database.url}\nWORKERS=2\nSECRET_TOKEN=short\n`);
  const service = parts.use(await startService(folder.path, {}, NAMING_PROCESSES));
  const pids = [...(await findAnswering(service.url, 2))];
  const token = await tokenFrom(service, folder.path);
  const owned = parts.move();
  return { service, pids, token, database, envFile, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Enough for the slowest start. */
const ATTEMPTS_MAX = 5_000;

/**
 * Asks again and again until so many processes have answered. No answer is waited for: a connection that was just
 * being given to a process that ends gets none.
 *
 * @returns their ids
 */
export async function findAnswering(url: string, count: number): Promise<ReadonlySet<number>> {
  const pids = new Set<number>();
  const controller = new AbortController();
  for (let attempt = 0; pids.size < count; attempt++) {
    if (attempt === ATTEMPTS_MAX) throw new Error(`of ${count} processes ${pids.size} answer`);
    askWho(url, controller.signal).then(
      ({ pid }) => pids.add(pid),
      () => {},
    );
    await sleep(20);
  }
  controller.abort();
  return pids;
}

/** Asks on a connection of its own. @returns the process that answers, and the one that started it */
export async function askWho(
  url: string,
  signal: AbortSignal | null = null,
): Promise<{ pid: number; parent: number }> {
  const response = await fetch(url, { headers: { connection: 'close' }, signal });
  await response.text();
  const idIn = (name: string) => Number(response.headers.get(name));
  return { pid: idIn('x-pid'), parent: idIn('x-parent') };
}
