// Finds a Node that is new enough for the service. It is plain JavaScript and runs on any recent Node.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { engines, optionalDependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const [needed] = /[0-9]+/.exec(engines.node);

/** @returns the path of this Node, or else of the one in node_modules; exits with a message when neither is new enough */
export function findNode() {
  if (Number.parseInt(process.versions.node, 10) >= Number(needed)) return process.execPath;
  // npm installs the one package that is for this platform: in a clone below the root, otherwise beside the installed package.
  const program = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node';
  const names = Object.keys(optionalDependencies);
  const paths = ['node_modules/', '../'].flatMap((folder) => names.map((name) => root + folder + name));
  const installed = paths.map((path) => `${path}/${program}`).find((path) => existsSync(path));
  if (!installed) {
    console.error(
      `Node ${needed} or newer is required, and this is ${process.version}: install it from nodejs.org and try again.`,
    );
    process.exit(1);
  }
  return installed;
}
