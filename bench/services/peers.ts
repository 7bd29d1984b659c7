import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PEERS = join(import.meta.dirname, '..', 'peers');

/** Installs the dependencies of a peer from its lock file, once. @returns its folder */
export function installPeer(name: 'elysia' | 'textbook'): string {
  const folder = join(PEERS, name);
  const stamp = join(folder, 'node_modules', '.installed');
  const lock = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return folder;
  console.error(`Installing bench/peers/${name} (npm ci) …`);
  // Prefers the npm that started this process to the one on the path.
  const npm = process.env.npm_execpath;
  const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []];
  const options = ['ci', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync(command, [...args, ...options], { cwd: folder, stdio: ['ignore', 2, 2] });
  writeFileSync(stamp, lock);
  return folder;
}
