import type { App } from '../app.ts';
import { ConfigError, type LoadedConfiguration, loadConfig } from '../config/config.ts';
import type { LogStream } from '../log/log.ts';
import { StoreNotReady } from '../store/errors.ts';
import { printStartupMessage } from './startup-message.ts';

/** The service as a process: configuration, start, signals, exit. */

let app: App | undefined;
let log: ReturnType<typeof openLogAndLogger> | undefined;
let isStopping = false;

// SIGBREAK is Ctrl+Break on Windows.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGBREAK'] as const) process.on(signal, () => void stop());

try {
  const configuration = loadConfig();
  const workers = configuration.workers > 1 ? await import('./workers.ts') : undefined;
  if (workers?.isWorker) {
    workers.stopOnPrimaryExit(() => void stop());
    app = await serve(configuration);
    process.send?.(app.url);
  } else {
    app = workers ? await workers.startWorkers(configuration) : await serve(configuration);
    if (!app) process.exit(1);
    void app.lost?.then((reason) => stopLost(reason, configuration));
    printStartupMessage(configuration, app.url);
  }
  // Without SIGTERM, as on Windows, a parent process sends this message: the primary to its workers, and process managers.
  process.on('message', (message) => {
    if (message === 'shutdown') void stop();
  });
} catch (error) {
  console.error(`bookkeeping cannot start: ${describe(error)}`);
  process.exit(1);
}

/** Serves in this process. A primary does not, and never loads these modules, which are most of the code. */
async function serve(configuration: LoadedConfiguration): Promise<App> {
  const { config, secrets, workers } = configuration;
  const isWorker = workers > 1;
  log = openLogAndLogger(configuration);
  const [{ startApp }, { logStream, logger }] = await Promise.all([import('../app.ts'), log]);
  const shareMetrics = isWorker ? (await import('./worker-metrics.ts')).shareMetrics : undefined;
  const running = await startApp(config, secrets, { logStream, shareMetrics, isWorker });
  return {
    ...running,
    close() {
      logger.info('stopping');
      return running.close();
    },
  };
}

async function openLogAndLogger({ config, workers }: LoadedConfiguration) {
  const { openLog, openLogger } = await import('../log/log.ts');
  let logStream: LogStream = openLog({ isShared: workers > 1 });
  if (process.stdout.isTTY) logStream = (await import('../log/log-terminal.ts')).prettyPrinted(logStream);
  return { logStream, logger: openLogger(logStream, config.logLevel) };
}

/** Stops when acknowledged writes may be lost. */
async function stopLost(reason: string, configuration: LoadedConfiguration): Promise<void> {
  console.error(`bookkeeping: stopping: ${reason}`);
  // It may be stopping already.
  process.exitCode = 1;
  (await (log ?? openLogAndLogger(configuration))).logger.fatal('the store is lost');
  await stop();
}

/** Drains and exits. Further signals are ignored: npm repeats those that the process group has received. */
async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  await app?.close();
  process.exit();
}

/** One line for an expected error, the stack for any other. */
function describe(error: unknown): string {
  if (error instanceof ConfigError || error instanceof StoreNotReady) return error.message;
  if (!(error instanceof Error)) return String(error);
  const { code, syscall, address, hostname, port } = error as NodeJS.ErrnoException & Address;
  if (code === 'EADDRINUSE') return `the port ${port} is already in use; set PORT to another one`;
  // In a worker it is `bind`, which fails in the primary.
  if (syscall === 'listen' || syscall === 'bind' || syscall === 'getaddrinfo') {
    const withPort = port === undefined ? '' : `, port ${port}`;
    return `cannot listen on the address ${address ?? hostname}${withPort} (${code}); see HOST and PORT`;
  }
  return error.stack ?? error.message;
}

type Address = Partial<Readonly<{ address: string; hostname: string; port: number }>>;
