import { type App, startApp } from '../app.ts';
import { ConfigError, type LoadedConfiguration, loadConfig } from '../config/config.ts';
import { type LogStream, openLog, openLogger } from '../log/log.ts';
import { StoreNotReady } from '../store/errors.ts';
import { printStartupMessage } from './startup-message.ts';

/** The service as a process: configuration, start, signals, exit. */

let app: App | undefined;
let logger: ReturnType<typeof openLogger> | undefined;
let isStopping = false;
let isLost = false;

// SIGHUP: the terminal was closed. SIGBREAK is Ctrl+Break on Windows.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGBREAK'] as const)
  process.on(signal, () => void stop());

try {
  const configuration = loadConfig();
  app = await serve(configuration);
  void app.lost.then(stopLost);
  printStartupMessage(configuration, app.url);
  // Without SIGTERM, as on Windows, process managers send this message.
  process.on('message', (message) => {
    if (message === 'shutdown') void stop();
  });
} catch (error) {
  console.error(`bookkeeping cannot start: ${describe(error)}`);
  process.exit(1);
}

async function serve({ config, secrets }: LoadedConfiguration): Promise<App> {
  let logStream: LogStream = openLog();
  if (process.stdout.isTTY) logStream = (await import('../log/log-terminal.ts')).prettyPrinted(logStream);
  logger = openLogger(logStream, config.logLevel);
  return startApp(config, secrets, logStream);
}

/** Stops when acknowledged writes may be lost. It may be stopping already. */
async function stopLost(reason: string): Promise<void> {
  isLost = true;
  console.error(`bookkeeping: stopping: ${reason}`);
  logger?.fatal('the store is lost');
  await stop();
}

/** Drains and exits. Further signals are ignored: npm repeats those that the process group has received. */
async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  logger?.info('stopping');
  await app?.close();
  // After what was written before. An exit would close the files (see App.lost).
  if (isLost) process.stderr.write('', () => process.kill(process.pid, 'SIGKILL'));
  else process.exit();
}

/** One line for an expected error, the stack for any other. */
function describe(error: unknown): string {
  if (error instanceof ConfigError || error instanceof StoreNotReady) return error.message;
  if (!(error instanceof Error)) return String(error);
  const { code, syscall, address, hostname, port } = error as NodeJS.ErrnoException & Address;
  if (code === 'EADDRINUSE') return `the port ${port} is already in use; set PORT to another one`;
  if (syscall === 'listen' || syscall === 'getaddrinfo') {
    const withPort = port === undefined ? '' : `, port ${port}`;
    return `cannot listen on the address ${address ?? hostname}${withPort} (${code}); see HOST and PORT`;
  }
  return error.stack ?? error.message;
}

type Address = Partial<Readonly<{ address: string; hostname: string; port: number }>>;
