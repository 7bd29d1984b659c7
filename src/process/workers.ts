import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../app.ts';
import type { Configuration } from '../config/config.ts';
import { WorkerMetrics } from './worker-metrics.ts';

/** A worker that ended is replaced after this, so that workers which end at every start keep nobody busy. */
const REPLACEMENT_WAIT_MS = 1_000;

/** How long a stop waits for the workers, which need 4.5 seconds and its delay; who has not ended by then is killed. */
const STOP_MS_MAX = 4_700;

/** Whether this process is a worker, or the one that starts them: the primary. */
export const { isWorker } = cluster;

/**
 * Starts the processes that serve. They share one port: the primary accepts connections and hands them out in turn.
 * The others start when the first serves, and whoever ends is replaced.
 *
 * @returns the service of all workers; undefined when the first cannot serve, of which the operator has been told
 */
export async function startWorkers({
  workers: count,
  variables,
  config: { clientLimits },
}: Configuration): Promise<App | undefined> {
  const workers = new Set<Worker>();
  const metrics = new WorkerMetrics();
  let isStopping = false;

  const first = start();
  const url = await Promise.race([addressOf(first), ended(first).then(() => undefined)]);
  if (url === undefined) {
    const hasSaidWhy = first.process.exitCode === 1;
    if (!hasSaidWhy) console.error(`bookkeeping cannot start: its first worker ended (${endOf(first)})`);
    return undefined;
  }
  void keep(first);
  for (let started = 1; started < count; started++) void keep(start());

  return {
    url,
    async close() {
      isStopping = true;
      const allEnded = Promise.all([...workers].map(ended));
      for (const worker of workers) worker.process.kill('SIGTERM');
      await Promise.race([allEnded, sleep(clientLimits.stopDelayMs + STOP_MS_MAX)]);
      for (const worker of workers) worker.process.kill('SIGKILL');
    },
  };

  function start(): Worker {
    const worker = cluster.fork(variables);
    metrics.admit(worker);
    return worker;
  }

  /** Keeps the place of a worker filled. */
  async function keep(worker: Worker): Promise<void> {
    workers.add(worker);
    await ended(worker);
    workers.delete(worker);
    if (isStopping) return;
    console.error(`bookkeeping replaces worker ${worker.process.pid}, which ended (${endOf(worker)})`);
    await sleep(REPLACEMENT_WAIT_MS);
    if (!isStopping) void keep(start());
  }
}

/** Resolves when a worker serves: with its address. */
function addressOf(worker: Worker): Promise<string> {
  return new Promise((resolve) => {
    worker.on('message', (message) => {
      if (typeof message === 'string') resolve(message);
    });
  });
}

/** Resolves when a worker has ended, or could not be started. */
function ended(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    worker.once('exit', () => resolve());
    // It comes also from a worker that is just ending, and has not taken what was sent to it.
    worker.on('error', () => {
      if (worker.isDead()) resolve();
    });
  });
}

function endOf({ process: { exitCode, signalCode } }: Worker): string {
  return signalCode ?? `exit code ${exitCode}`;
}

/** Tells the primary that this worker serves. */
export function report(url: string): void {
  process.send?.(url);
}

/**
 * Lets this worker not outlive a primary that ended without stopping it.
 *
 * @param stop drains this process and ends it
 */
export function endWithPrimary(stop: () => void): void {
  const { worker } = cluster;
  worker?.once('disconnect', () => {
    // Without this word Node ends the process at once, in the middle of its requests.
    worker.exitedAfterDisconnect = true;
    stop();
  });
  // Connections that the primary handed out at its end cannot be confirmed any more.
  worker?.on('error', () => {});
}
