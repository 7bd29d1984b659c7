import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', 'textbook');
const STAMP = join(FOLDER, 'node_modules', '.installed');

export const TEXTBOOK = join(FOLDER, 'server.mjs');

/** Installs the dependencies of the textbook service from its lock file, once. */
export function installTextbook(): void {
  const lock = createHash('sha256')
    .update(readFileSync(join(FOLDER, 'package-lock.json')))
    .digest('hex');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === lock) return;
  console.error('Installing the textbook service (npm ci) …');
  // Prefers the npm that started this process to the one on the path.
  const npm = process.env.npm_execpath;
  const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []];
  const options = ['ci', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync(command, [...args, ...options], { cwd: FOLDER, stdio: ['ignore', 2, 2] });
  writeFileSync(STAMP, lock);
}
