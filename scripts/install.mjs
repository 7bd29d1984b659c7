// Installs what is missing, from the lock file, before `npm start` and `npm test` run. It is plain JavaScript for any
// Node that is still about, because the Node that the project runs on is among what it installs.
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
// Once what development needs is there, it stays.
const withDevelopment =
  process.argv.includes('--with-development') || existsSync(`${root}node_modules/typescript`);

const lock = createHash('sha256')
  .update(readFileSync(`${root}package-lock.json`))
  .digest('hex');
const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
if (installed !== `${lock} all` && (withDevelopment || installed !== `${lock} runtime`)) {
  install();
  expectNode();
  await compile();
  writeFileSync(stamp, `${lock} ${withDevelopment ? 'all' : 'runtime'}`);
}
expectNode();

function install() {
  console.error(`Installing what is missing (npm ci${withDevelopment ? '' : ' --omit=dev'}) …`);
  const options = [
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    ...(withDevelopment ? ['--include=dev'] : ['--omit=dev']),
  ];
  // npm started us; where it did not, the one on the path will do.
  const npm = process.env.npm_execpath;
  const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []];
  try {
    execFileSync(command, [...args, 'ci', ...options], { cwd: root, stdio: ['ignore', 2, 2] });
  } catch {
    console.error('The installation failed; see above. It needs the npm registry.');
    process.exit(1);
  }
}

/**
 * Starts the service once, on books that nobody wants, because a start leaves the compiled code to those that follow.
 * Should it fail, the next one will say why.
 */
async function compile() {
  const folder = mkdtempSync(join(tmpdir(), 'bookkeeping-'));
  const variables = {
    PORT: '0',
    HOST: '127.0.0.1',
    SECRET_TOKEN: 'none',
    AUTH_PASSWORD: 'none',
    DB_URL: 'sqlite:books.db',
  };
  const service = spawn('node', [`${root}src/main.ts`], {
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

/** npm scripts run on the Node in node_modules; on platforms where there is none, on the machine's own. */
function expectNode() {
  const version = execFileSync('node', ['--version'], { encoding: 'utf8' }).trim();
  const needed = JSON.parse(readFileSync(`${root}package.json`, 'utf8')).engines.node.replace(/[^0-9.]/g, '');
  if (Number(version.slice(1).split('.')[0]) >= Number(needed.split('.')[0])) return;
  console.error(
    `Node ${needed} or newer is needed, and this is ${version}: install it from nodejs.org and try again.`,
  );
  process.exit(1);
}
