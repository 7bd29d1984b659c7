// Builds the web console into `console/dist` unless the build is up to date.
//
// usage: node scripts/build-console.mjs [--if-possible]
//
// With --if-possible, a failed build is only reported: the service runs without the console.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findNode } from '../bin/find-node.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = join(root, 'console/dist/.built');

/** The sources of the console. */
const SOURCES = [
  'console/index.html',
  'console/src',
  'console/vite.config.ts',
  'client',
  'formats',
  'package-lock.json',
  'src/book',
  'src/http/body-limits.ts',
  'src/json',
  'src/web/docs/icon.svg',
];

const isOptional = process.argv.includes('--if-possible');
const sources = hashOf(SOURCES);

try {
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== sources) build();
} catch (error) {
  const reason = String(error.stderr || error.message).trim();
  console.error(`The web console could not be built: ${isOptional ? reason.split('\n')[0] : reason}`);
  if (!isOptional) process.exit(1);
  console.error('The service starts without it. To build it, run npm run build:console.');
}

function build() {
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  if (!existsSync(vite)) throw new Error('Vite is not installed; npm ci installs it');
  console.error('Building the web console …');
  execFileSync(findNode(), [vite, 'build', '--logLevel', 'warn'], {
    cwd: join(root, 'console'),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  writeFileSync(stamp, sources);
}

/** A hash of files and folders, by their names and contents. */
function hashOf(names) {
  const hash = createHash('sha256');
  for (const name of names.flatMap(filesIn)) hash.update(`${name}\0`).update(readFileSync(join(root, name)));
  return hash.digest('hex');
}

function filesIn(name) {
  if (!statSync(join(root, name)).isDirectory()) return [name];
  return readdirSync(join(root, name))
    .filter((entry) => entry !== 'dist')
    .toSorted()
    .flatMap((entry) => filesIn(join(name, entry)));
}
