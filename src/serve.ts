import { type App, startApp } from './app.ts';
import { ConfigError, loadConfig } from './config.ts';
import { greet } from './greeting.ts';
import { StoreNotReady } from './store/not-ready.ts';

/** The service as a process: configuration, start, signals, end. */

let app: App | undefined;
let isStopping = false;

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => void stop());
}

try {
  const configuration = loadConfig();
  app = await startApp(configuration.config, configuration.secrets);
  greet(configuration, app.url);
} catch (error) {
  console.error(`bookkeeping cannot start: ${explain(error)}`);
  process.exit(1);
}

/** Drains and ends with 0. A second signal changes nothing: npm passes on what the whole process group got. */
async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  await app?.close();
  process.exit(0);
}

/** One line for what the operator can mend, and the stack of what is a defect. */
function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof StoreNotReady) return error.message;
  if (!(error instanceof Error)) return String(error);
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return 'the port is already in use; set PORT to another one';
  if (syscall === 'listen' || syscall === 'getaddrinfo') {
    return `the address cannot be listened on (${code}); see HOST and PORT`;
  }
  return error.stack ?? error.message;
}
