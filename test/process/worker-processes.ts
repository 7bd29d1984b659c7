import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Engine, engines } from '../../testkit/engines.ts';
import { createFolder } from '../../testkit/folder.ts';
import { type ServiceProcess, startService, tokenFrom } from '../../testkit/service-process.ts';

/** Options of `node` that add the ids of the process and its parent to every response. */
export const WITH_PROCESS_IDS = [
  '--import',
  `data:text/javascript,${encodeURIComponent(`
    import { subscribe } from 'node:diagnostics_channel';
    subscribe('http.server.request.start', ({ response }) => {
      response.setHeader('x-pid', process.pid).setHeader('x-parent', process.ppid);
    });
  `)}`,
];

/** The standard error of a service of {@link startTwoWorkers}. */
export const STARTUP_ERROR_OUTPUT =
  'bookkeeping: warning: SECRET_TOKEN is shorter than 32 bytes\n' +
  'bookkeeping: generated AUTH_USERNAME, AUTH_PASSWORD in .env\n';

/** A service with two workers. Disposing kills it and deletes its database. */
export interface TwoWorkers extends AsyncDisposable {
  readonly service: ServiceProcess;
  readonly pids: readonly number[];
  readonly token: string;
  readonly dbUrl: string;
  /** Contains the configuration. */
  readonly envFile: string;
}

/** Starts a service with two workers, and waits for responses of both. */
export async function startTwoWorkers(engineName: Engine['name'] = 'PostgreSQL'): Promise<TwoWorkers> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await createFolder());
  const engine = engines.find(({ name }) => name === engineName) as Engine;
  const { dbUrl } = parts.use(await engine.createAddress());
  const envFile = join(folder.path, '.env');
  await writeFile(envFile, `DB_URL=${dbUrl}\nWORKERS=2\nSECRET_TOKEN=short\n`);
  const service = parts.use(await startService(folder.path, {}, WITH_PROCESS_IDS));
  const pids = [...(await waitForProcesses(service.url, 2))];
  const token = await tokenFrom(service, folder.path);
  const owned = parts.move();
  return { service, pids, token, dbUrl, envFile, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const ATTEMPTS_MAX = 5_000;

/**
 * Sends requests until `count` processes have responded. Each request is sent without awaiting the others: a connection that
 * was given to an exiting process gets no response.
 *
 * @returns their ids
 */
export async function waitForProcesses(url: string, count: number): Promise<ReadonlySet<number>> {
  const pids = new Set<number>();
  const controller = new AbortController();
  for (let attempt = 0; pids.size < count; attempt++) {
    if (attempt === ATTEMPTS_MAX) throw new Error(`only ${pids.size} of ${count} processes respond`);
    identifyProcess(url, controller.signal).then(
      ({ pid }) => pids.add(pid),
      () => {},
    );
    await sleep(20);
  }
  controller.abort();
  return pids;
}

/** Sends a request on a new connection. @returns the ids of the process that responds and of its parent */
export async function identifyProcess(
  url: string,
  signal: AbortSignal | null = null,
): Promise<{ pid: number; parent: number }> {
  const response = await fetch(url, { headers: { connection: 'close' }, signal });
  await response.text();
  const idIn = (name: string) => Number(response.headers.get(name));
  return { pid: idIn('x-pid'), parent: idIn('x-parent') };
}
