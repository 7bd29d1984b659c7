import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Disposing deletes a cluster. */
export type Janitor = AsyncDisposable;

/**
 * Starts a process that stops the server of a cluster and deletes its folder when it is disposed or its parent exits, even by
 * SIGKILL.
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

async function deleteCluster(folder: string): Promise<void> {
  const server = await readServerId(folder);
  if (server !== undefined) {
    process.kill(server, 'SIGQUIT');
    process.kill(server, 'SIGCONT');
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

/** The process id of the server; undefined if it does not run. */
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
  await deleteCluster(folder);
}
