// Builds the service into `dist`, with the web console and the server of `bookkeeping mcp`, for `npm pack`.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const tsc = `${root}node_modules/typescript/bin/tsc`;

if (!existsSync(tsc)) run('scripts/install.mjs', '--with-development');
run('scripts/build-console.mjs');
rmSync(`${root}dist`, { recursive: true, force: true });
run(tsc, '--project', 'tsconfig.service.json');
const { build } = await import('vite');
await build({
  root: `${root}mcp`,
  configFile: false,
  logLevel: 'warn',
  // One file with all its packages, which the service does not depend on.
  ssr: { noExternal: true },
  build: { ssr: 'server.ts', target: 'node26', license: { fileName: 'licenses.md' } },
});
cpSync(`${root}src/web/docs`, `${root}dist/web/docs`, { recursive: true });

function run(...args) {
  execFileSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
}
