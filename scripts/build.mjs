// Builds the service into `dist`, with the web console, for `npm pack`.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const tsc = `${root}node_modules/typescript/bin/tsc`;

if (!existsSync(tsc)) run('scripts/install.mjs', '--with-development');
run('scripts/build-console.mjs');
rmSync(`${root}dist`, { recursive: true, force: true });
run(tsc, '--project', 'tsconfig.service.json');
cpSync(`${root}src/web/docs`, `${root}dist/web/docs`, {
  recursive: true,
  filter: (path) => !path.endsWith('tsconfig.json'),
});

function run(...args) {
  execFileSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
}
