import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Clears a cluster away when it is disposed. */
export type Janitor = AsyncDisposable;

/**
 * Starts a process that waits until it is dismissed or its parent has ended, also by SIGKILL, and then takes away
 * the folder of a cluster and the server that runs in it.
 */
export function startJanitor(folder: string): Janitor {
  const janitor = fork(import.meta.filename, [folder], {
    detached: true,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  janitor.unref();
  janitor.channel?.unref();
  return {
    async [Symbol.asyncDispose]() {
      janitor.ref();
      janitor.disconnect();
      await once(janitor, 'exit');
    },
  };
}

async function clearAway(folder: string): Promise<void> {
  const server = await readServerId(folder);
  if (server !== undefined) {
    process.kill(server, 'SIGQUIT');
    process.kill(server, 'SIGCONT');
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

/** The id of the server's main process, unless it is not running. */
async function readServerId(folder: string): Promise<number | undefined> {
  try {
    const id = Number.parseInt(await readFile(join(folder, 'data', 'postmaster.pid'), 'utf8'), 10);
    process.kill(id, 0);
    return id;
  } catch {
    return undefined;
  }
}

const [, , folder] = process.argv;
if (import.meta.main && folder !== undefined) {
  await once(process, 'disconnect');
  await clearAway(folder);
}
