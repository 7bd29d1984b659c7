// Installs missing dependencies from the lock file, before `npm start` and `npm test`. It is plain JavaScript and runs on any
// recent Node, because the dependencies include the Node of the project.
//
// usage: node scripts/install.mjs [--with-development]

import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = `${root}node_modules/.installed`;
// Development dependencies are never removed.
const withDevelopment =
  process.argv.includes('--with-development') || existsSync(`${root}node_modules/typescript`);

const lock = createHash('sha256')
  .update(readFileSync(`${root}package-lock.json`))
  .digest('hex');
const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
if (installed !== `${lock} all` && (withDevelopment || installed !== `${lock} runtime`)) {
  install();
  requireNode();
  await compile();
  writeFileSync(stamp, `${lock} ${withDevelopment ? 'all' : 'runtime'}`);
}
requireNode();

function install() {
  console.error(`Installing dependencies (npm ci${withDevelopment ? '' : ' --omit=dev'}) …`);
  const options = [
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    ...(withDevelopment ? ['--include=dev'] : ['--omit=dev']),
  ];
  // Prefers the npm that started this process to the one on the path.
  const npm = process.env.npm_execpath;
  const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []];
  try {
    execFileSync(command, [...args, 'ci', ...options], { cwd: root, stdio: ['ignore', 2, 2] });
  } catch {
    console.error('The installation failed; see the errors above. It needs the npm registry.');
    process.exit(1);
  }
}

/** Fills the compile cache by starting the service with an empty database; errors are ignored. */
async function compile() {
  const folder = mkdtempSync(join(tmpdir(), 'bookkeeping-'));
  const variables = {
    PORT: '0',
    HOST: '127.0.0.1',
    SECRET_TOKEN: 'none',
    AUTH_PASSWORD: 'none',
    DB_URL: 'sqlite:books.db',
  };
  const service = spawn('node', [`${root}bin/bookkeeping.mjs`], {
    cwd: folder,
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...variables },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const timeout = setTimeout(() => service.kill('SIGKILL'), 10_000);
  service.stdout.once('data', () => service.kill('SIGTERM'));
  await new Promise((resolve) => service.once('close', resolve));
  clearTimeout(timeout);
  rmSync(folder, { recursive: true });
}

/** On platforms without a Node in node_modules, npm scripts run on that of the system. */
function requireNode() {
  const version = execFileSync('node', ['--version'], { encoding: 'utf8' }).trim();
  const needed = JSON.parse(readFileSync(`${root}package.json`, 'utf8')).engines.node.replace(/[^0-9.]/g, '');
  if (Number(version.slice(1).split('.')[0]) >= Number(needed.split('.')[0])) return;
  console.error(
    `Node ${needed} or newer is required, and this is ${version}: install it from nodejs.org and try again.`,
  );
  process.exit(1);
}
