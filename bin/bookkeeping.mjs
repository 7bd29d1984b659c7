#!/usr/bin/env -S node --max-semi-space-size=8
// The command `bookkeeping`, which `npm start` runs, too. It is plain JavaScript and runs on any recent Node: in a clone it
// installs missing dependencies, and if this Node is too old it starts the one in node_modules.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { findNode } from './find-node.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const isClone = existsSync(`${root}src/main.ts`);
const main = new URL(isClone ? '../src/main.ts' : '../dist/src/main.js', import.meta.url);
// Later starts read the compiled code, and do not load the compiler of TypeScript: that halves the time to the first response
// and saves 30 MB. The cache is optional.
const compileCache = `${root}node_modules/.cache/compiled`;

const isMcp = process.argv[2] === 'mcp';
const isInstalled =
  changedAt('node_modules/.package-lock.json') >= changedAt('package-lock.json') &&
  (!isMcp || existsSync(`${root}node_modules/@modelcontextprotocol/server`));
if (isClone && !isInstalled) install(...(isMcp ? ['--with-mcp'] : []));
const node = findNode();
if (node === process.execPath) {
  module.enableCompileCache(compileCache);
  await import(main.href);
} else runWith(node);

/** When a file was changed, in milliseconds since 1970; 0 if there is none. */
function changedAt(file) {
  return statSync(root + file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Installs missing runtime dependencies, or those that an update of the clone needs; all output goes to standard error. */
function install(...options) {
  if (!existsSync(`${root}scripts/install.mjs`)) {
    if (!isMcp) return;
    console.error('bookkeeping: the image has no `mcp`; run it in a clone or from the package');
    process.exit(1);
  }
  try {
    execFileSync(process.execPath, [`${root}scripts/install.mjs`, ...options], { stdio: ['ignore', 2, 2] });
  } catch (error) {
    process.exit(error.status || 1);
  }
}

/** Runs the command on another Node, forwards signals to it, and exits in the same way. */
function runWith(program) {
  const child = spawn(program, ['--max-semi-space-size=8', fileURLToPath(main), ...process.argv.slice(2)], {
    env: { NODE_COMPILE_CACHE: compileCache, ...process.env },
    stdio: 'inherit',
  });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'];
  // The console of Windows signals all its processes, and `kill` ends them at once there.
  const forward = (signal) => process.platform === 'win32' || child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  child.once('exit', (code, signal) => {
    if (!signal) process.exit(code);
    for (const name of signals) process.off(name, forward);
    process.kill(process.pid, signal);
  });
}
