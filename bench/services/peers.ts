import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import elysiaPackage from '../peers/elysia/package.json' with { type: 'json' };

const PEERS = join(import.meta.dirname, '..', 'peers');

/** Installs Elysia and Bun from the lock file, once. @returns the folder of the peer */
export function installElysia(): string {
  const folder = join(PEERS, 'elysia');
  const stamp = join(folder, 'node_modules', '.installed');
  const lock = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return folder;
  console.error(`Installing bench/peers/elysia (npm ci) …`);
  // Prefers the npm that started this process to the one on the path.
  const npm = process.env.npm_execpath;
  const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []];
  const options = ['ci', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync(command, [...args, ...options], { cwd: folder, stdio: ['ignore', 2, 2] });
  writeFileSync(stamp, lock);
  return folder;
}

/** The drivers, as Debian packages them. The second one uses SQLite of the third. */
const GO_PACKAGES = [
  'golang-github-jackc-pgx-v4-dev',
  'golang-github-mattn-go-sqlite3-dev',
  'libsqlite3-dev',
];

/** Where Debian has the sources of Go packages; a proxy of modules is not needed then. */
const GO_ENVIRONMENT = { GO111MODULE: 'off', GOPATH: '/usr/share/gocode' };

/** Compiles the peer in Go. @returns its program, or undefined when Go or a driver is missing */
export function buildGoPeer(): string | undefined {
  const program = join(PEERS, 'data', 'go-peer');
  mkdirSync(dirname(program), { recursive: true });
  const { status, stderr } = spawnSync('go', ['build', '-tags', 'libsqlite3', '-o', program, '.'], {
    cwd: join(PEERS, 'go'),
    env: { ...process.env, ...GO_ENVIRONMENT },
    encoding: 'utf8',
  });
  if (status === 0) return program;
  console.error(`No measurement of Go: ${stderr?.trim() || 'go is not installed'}`);
  return undefined;
}

/** The versions of the peers, for the report. */
export function describePeers(): [name: string, version: string][] {
  const { elysia, bun } = elysiaPackage.dependencies;
  const go = /go[0-9.]+/.exec(spawnSync('go', ['version'], { encoding: 'utf8' }).stdout ?? '')?.[0];
  const { stdout } = spawnSync('dpkg-query', ['-W', ...GO_PACKAGES], { encoding: 'utf8' });
  const drivers = stdout
    ?.trim()
    .replaceAll(/^(?:golang-github-\w+-)?(.*?)-dev\S*\t/gm, '$1 ')
    .split('\n');
  return [
    ['Elysia', `${elysia} on Bun ${bun}`],
    ['Go', go === undefined ? 'not installed' : [go, ...(drivers ?? [])].join(', ')],
  ];
}
