// Builds the page for people, `console/dist`, where it is missing or older than its sources. It is plain JavaScript for
// any Node that is still about; what it starts runs on the Node that the project installs.
//
// usage: node scripts/build-console.mjs [--if-possible]
//
// With --if-possible a build that fails is told of, and no failure: the service does without its page.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'console');
const built = join(folder, 'dist', '.built');
const installed = join(folder, 'node_modules', '.installed');

/** What the page is made of. */
const SOURCES = [
  'console/index.html',
  'console/package-lock.json',
  'console/src',
  'console/vite.config.ts',
  'src/client',
  'src/contract.ts',
];

const path = [join(root, 'node_modules', '.bin'), process.env.PATH].join(
  process.platform === 'win32' ? ';' : ':',
);

const isOptional = process.argv.includes('--if-possible');
const sources = hashOf(SOURCES);
const isBuilt = isStamped(built, sources);

try {
  // What has been built can be served without what builds it; the checks need both.
  if (!isBuilt || !isOptional) install();
  if (!isBuilt) build();
} catch (error) {
  const reason = String(error.stderr ?? error.message).trim();
  console.error(`The page for people could not be built: ${isOptional ? reason.split('\n')[0] : reason}`);
  if (!isOptional) process.exit(1);
  console.error('The service does without it. npm run build:console tries again.');
}

/** Installs what the build needs, from the lock file. */
function install() {
  const lock = hashOf(['console/package-lock.json']);
  if (isStamped(installed, lock)) return;
  console.error('Installing what the page for people is built with (npm ci in console) …');
  // npm started us; where it did not, the one on the path will do.
  const npm = process.env.npm_execpath;
  const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []];
  const options = ['--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  // Nobody who starts the service wants to wait for a network that is away.
  if (isOptional) options.push('--fetch-retries=1', '--fetch-retry-mintimeout=1000');
  run(command, [...args, 'ci', ...options]);
  writeFileSync(installed, lock);
}

function build() {
  console.error('Building the page for people …');
  run('node', [join(folder, 'node_modules', 'vite', 'bin', 'vite.js'), 'build', '--logLevel', 'warn']);
  writeFileSync(built, sources);
}

function run(command, args) {
  execFileSync(command, args, {
    cwd: folder,
    env: { ...process.env, PATH: path },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

function isStamped(file, stamp) {
  return existsSync(file) && readFileSync(file, 'utf8') === stamp;
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
    .toSorted()
    .flatMap((entry) => filesIn(join(name, entry)));
}
