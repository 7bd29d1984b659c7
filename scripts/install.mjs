// Installs missing dependencies from the lock file, before `npm start` and `npm test`. It is plain JavaScript and runs on any
// recent Node, because the dependencies include the Node of the project.
//
// usage: node scripts/install.mjs [--with-development] [--with-mcp]
//
// The packages of `bookkeeping mcp` are installed only with one of these.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findNode } from '../bin/find-node.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const commands = `${root}node_modules/.bin/`;
const isWindows = process.platform === 'win32';
// Development dependencies are never removed.
const withDevelopment =
  process.argv.includes('--with-development') || existsSync(`${root}node_modules/typescript`);
const withMachineNode = isMachineNodeNewer();

if (!isInstalled(withDevelopment ? ['', 'console', 'mcp'] : ['', 'console'])) {
  // `npm ci` deletes node_modules, but Windows does not delete a Node that runs.
  const action = isWindows ? ['install', '--no-save'] : ['ci'];
  const workspaces = ['--include-workspace-root', '--workspace=console'];
  // Only development dependencies need install scripts.
  const scope = withDevelopment ? ['--include=dev'] : ['--omit=dev', '--ignore-scripts', ...workspaces];
  npm(...action, ...scope);
  tryNode(findNode());
}
addCommands();
// Only adds packages, since a service may run.
if (process.argv.includes('--with-mcp') && !isInstalled(['mcp'])) {
  npm('install', '--no-save', '--omit=dev', '--ignore-scripts', '--workspace=mcp');
}
findNode();

/** Whether npm, whoever ran it, has installed the lock file, with the dependencies of these workspaces; '' is the root. */
function isInstalled(workspaces) {
  const locked = packagesIn('package-lock.json');
  const installed = packagesIn('node_modules/.package-lock.json');
  const needed = workspaces.flatMap((workspace) => {
    const { dependencies, devDependencies } = locked[workspace];
    return Object.keys({ ...dependencies, ...(withDevelopment && devDependencies) });
  });
  const hasNode = Object.keys(locked[''].optionalDependencies).some(
    (name) => `node_modules/${name}` in installed,
  );
  return (
    needed.every((name) => `node_modules/${name}` in installed) &&
    Object.entries(installed).every(([path, { version }]) => locked[path]?.version === version) &&
    // It was removed while the Node of the machine was newer.
    (!hasNode || withMachineNode || existsSync(`${commands}node${isWindows ? '.cmd' : ''}`))
  );
}

/** The packages of a lock file, by path. */
function packagesIn(file) {
  return existsSync(root + file) ? JSON.parse(readFileSync(root + file, 'utf8')).packages : {};
}

function npm(...action) {
  console.error(`Installing dependencies (npm ${action.join(' ')}) …`);
  const options = ['--no-audit', '--no-fund', '--loglevel=error'];
  // Prefers the npm that started this process to the one on the path.
  const path = process.env.npm_execpath;
  const [command, args] = path ? [process.execPath, [path]] : ['npm', []];
  try {
    execFileSync(command, [...args, ...action, ...options], { cwd: root, stdio: ['ignore', 2, 2] });
  } catch {
    console.error('The installation failed; see the errors above. It needs the npm registry.');
    process.exit(1);
  }
}

/** Whether the Node that runs npm is newer than the one in node_modules, for example by a security release. */
function isMachineNodeNewer() {
  const { optionalDependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const [packaged] = Object.values(optionalDependencies);
  const [, machine = process.versions.node] =
    / node\/v([0-9.]+) /.exec(process.env.npm_config_user_agent ?? '') ?? [];
  return machine.localeCompare(packaged, 'en', { numeric: true }) > 0;
}

/** Removes and adds commands of node_modules/.bin, where npm scripts look first. */
function addCommands() {
  if (withMachineNode)
    for (const name of ['node', 'node.cmd', 'node.ps1']) rmSync(commands + name, { force: true });
  // npm sends signals to the shell of a script only. On Unix `exec` replaces that shell by the program; for Windows, which has no
  // such signals, this `exec` only runs it.
  if (isWindows) writeFileSync(`${commands}exec.cmd`, '@%*\r\n');
}

/** Small systems lack a library that Node needs. */
function tryNode(node) {
  try {
    execFileSync(node, ['--version'], { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    console.error(String(error.stderr || error.message).trim());
    console.error(
      'Install what it needs (Debian and Ubuntu: apt install libatomic1), or install Node 26 yourself.',
    );
    process.exit(1);
  }
}
