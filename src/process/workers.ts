import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../app.ts';
import type { LoadedConfiguration } from '../config/config.ts';
import { openSharedWriter } from '../store/load-engine.ts';
import { WorkerMetrics } from './worker-metrics.ts';

/** The wait before a worker is replaced: it limits the load of workers that crash at every start. */
const REPLACEMENT_DELAY_MS = 1_000;
/** After the stop delay, workers need 4.5 seconds to exit; then they are killed. */
const STOP_MS_MAX = 4_700;

export const { isWorker } = cluster;

/**
 * Starts one worker, and the others when it listens. The primary accepts connections and distributes them round-robin.
 *
 * @returns undefined when the first worker fails to start; the error has been printed
 */
export async function startWorkers(configuration: LoadedConfiguration): Promise<App | undefined> {
  const { stopDelayMs } = configuration.config.configuredLimits;
  const workers = new Set<Worker>();
  const metrics = new WorkerMetrics();
  const writer = await openSharedWriter(configuration.config.store);
  // The bytes of books are sent between processes.
  cluster.setupPrimary({ serialization: 'advanced' });
  let isStopping = false;

  const first = start();
  const url = await Promise.race([urlOf(first), exited(first).then(() => undefined)]);
  if (url === undefined) {
    // With exit code 1, the worker has printed the error.
    if (first.process.exitCode !== 1)
      console.error(`bookkeeping cannot start: the first worker exited (${exitOf(first)})`);
    return undefined;
  }
  void supervise(first);
  for (let started = 1; started < configuration.workers; started++) void supervise(start());

  return {
    url,
    ...(writer?.lost && { lost: writer.lost }),
    async close() {
      isStopping = true;
      const allExited = Promise.all([...workers].map(exited)).then(() => writer?.close());
      for (const worker of workers) {
        // On Windows a signal is a kill.
        if (process.platform === 'win32') worker.send('shutdown', () => {});
        else worker.process.kill('SIGTERM');
      }
      await Promise.race([allExited, sleep(stopDelayMs + STOP_MS_MAX)]);
      for (const worker of workers) worker.process.kill('SIGKILL');
    },
  };

  function start(): Worker {
    const worker = cluster.fork({ ...configuration.variables, WORKERS: `${configuration.workers}` });
    metrics.addWorker(worker);
    writer?.addWorker(worker);
    return worker;
  }

  async function supervise(worker: Worker): Promise<void> {
    workers.add(worker);
    await exited(worker);
    workers.delete(worker);
    if (isStopping) return;
    console.error(
      `bookkeeping: warning: worker ${worker.process.pid} exited (${exitOf(worker)}) and is replaced`,
    );
    await sleep(REPLACEMENT_DELAY_MS);
    if (!isStopping) void supervise(start());
  }
}

function urlOf(worker: Worker): Promise<string> {
  return new Promise((resolve) => {
    worker.on('message', (message) => {
      if (typeof message === 'string') resolve(message);
    });
  });
}

function exited(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    worker.once('exit', () => resolve());
    // A message to an exiting worker also fails with `error`.
    worker.on('error', () => {
      if (worker.isDead()) resolve();
    });
  });
}

function exitOf({ process: { exitCode, signalCode } }: Worker): string {
  return signalCode ?? `exit code ${exitCode}`;
}

/** In a worker: calls `stop` when the primary has exited without stopping its workers. */
export function stopOnPrimaryExit(stop: () => void): void {
  const { worker } = cluster;
  worker?.once('disconnect', () => {
    // Otherwise Node exits at once, during requests.
    worker.exitedAfterDisconnect = true;
    stop();
  });
  // Connections from an exited primary cannot be acknowledged.
  worker?.on('error', () => {});
}
