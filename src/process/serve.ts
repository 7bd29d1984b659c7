import type { App } from '../app.ts';
import { ConfigError, type Configuration, loadConfig } from '../config/config.ts';
import type { LogStream } from '../log/log.ts';
import { StoreNotReady } from '../store/store-errors.ts';
import { greet } from './greeting.ts';

/** The service as a process: configuration, start, signals, end. */

let app: App | undefined;
let isStopping = false;

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => void stop());
}

try {
  const configuration = loadConfig();
  const workers = configuration.workers > 1 ? await import('./workers.ts') : undefined;
  if (workers?.isWorker) {
    workers.endWithPrimary(() => void stop());
    app = await serve(configuration);
    workers.report(app.url);
  } else {
    app = workers ? await workers.startWorkers(configuration) : await serve(configuration);
    if (!app) process.exit(1);
    greet(configuration, app.url);
  }
} catch (error) {
  console.error(`bookkeeping cannot start: ${explain(error)}`);
  process.exit(1);
}

/**
 * Serves in this process. It loads what a primary can do without: most of the code. The log has what happens to what
 * serves; who started it is told on standard error why it ends by itself.
 */
async function serve({ config, secrets, workers }: Configuration): Promise<App> {
  const [{ startApp }, { openLog, openLogger }] = await Promise.all([
    import('../app.ts'),
    import('../log/log.ts'),
  ]);
  let logStream: LogStream = openLog({ isShared: workers > 1 });
  if (process.stdout.isTTY) logStream = (await import('../log/log-terminal.ts')).forPeople(logStream);
  const logger = openLogger(logStream, config.logLevel);
  const shareMetrics = workers > 1 ? (await import('./worker-metrics.ts')).shareMetrics : undefined;
  const serving = await startApp(config, secrets, { logStream, shareMetrics });
  void serving.lost?.then((reason) => {
    console.error(`bookkeeping ends: ${reason}`);
    logger.fatal('the store is lost');
    return stop(1);
  });
  return {
    ...serving,
    close() {
      logger.info('stopping');
      return serving.close();
    },
  };
}

/** Drains and ends. A second signal changes nothing: npm passes on what the whole process group got. */
async function stop(exitCode = 0): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  await app?.close();
  process.exit(exitCode);
}

/** One line for what the operator can mend, and the stack of what is a defect. */
function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof StoreNotReady) return error.message;
  if (!(error instanceof Error)) return String(error);
  const { code, syscall, address, hostname, port } = error as ListenError;
  if (code === 'EADDRINUSE') return `the port ${port} is already in use; set PORT to another one`;
  // A worker's listening fails where the primary binds.
  if (syscall === 'listen' || syscall === 'bind' || syscall === 'getaddrinfo') {
    const place = port === undefined ? '' : `, port ${port},`;
    return `the address ${address ?? hostname}${place} cannot be listened on (${code}); see HOST and PORT`;
  }
  return error.stack ?? error.message;
}

/** What Node says of a listen or a lookup that failed. */
interface ListenError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly hostname?: string;
  readonly port?: number;
}
