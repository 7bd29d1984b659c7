// Builds the service into `dist`, with the web console and the server of `bookkeeping mcp`, for `npm pack`. `dist` has the folders of
// the project, so that all paths between them are the same.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
  // One file with all its packages, which the service does not depend on, in place of the one that tsc has compiled.
  ssr: { noExternal: true },
  build: {
    ssr: 'server.ts',
    outDir: `${root}dist/mcp`,
    emptyOutDir: false,
    target: 'node26',
    license: { fileName: 'licenses.md' },
  },
});
for (const folder of ['src/web/docs', 'console/dist'])
  cpSync(root + folder, `${root}dist/${folder}`, {
    recursive: true,
    filter: (path) => !path.endsWith('.built'),
  });
// The service reads its version there.
const { type, version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
writeFileSync(`${root}dist/package.json`, `${JSON.stringify({ type, version })}\n`);

function run(...args) {
  execFileSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
}
