// Fills the compile cache by starting the service once, with an empty database; errors are ignored.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** More than the start takes, also on an emulated processor. */
const START_MS_MAX = 120_000;

try {
  const folder = mkdtempSync(join(tmpdir(), 'bookkeeping-'));
  await startOnce(folder);
  rmSync(folder, { recursive: true });
} catch {
  // Without the cache, the first start only takes longer.
}

/** Resolves when the service has stopped. */
async function startOnce(folder) {
  const variables = {
    PORT: '0',
    HOST: '127.0.0.1',
    SECRET_TOKEN: 'none',
    AUTH_PASSWORD: 'none',
    DB_URL: 'sqlite:books.db',
  };
  const service = spawn(
    process.execPath,
    [fileURLToPath(new URL('../bin/bookkeeping.mjs', import.meta.url))],
    {
      cwd: folder,
      env: { PATH: process.env.PATH, NODE_ENV: 'production', ...variables },
      stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
    },
  );
  service.on('error', () => {});
  const timeout = setTimeout(() => service.kill('SIGKILL'), START_MS_MAX);
  service.stdout.once('data', () => service.send('shutdown'));
  await new Promise((resolve) => service.once('close', resolve));
  clearTimeout(timeout);
}
