import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { createFolder } from '../../testkit/folder.ts';
import { PASSWORD } from '../../testkit/service.ts';
import { ServiceProcess } from '../../testkit/service-process.ts';
import { ROOT } from '../project/files.ts';

/** The sources of the console, without the build. */
const CONSOLE = ['index.html', 'package.json', 'src', 'vite.config.ts'].map((name) => `console/${name}`);

test('A service whose console is not built logs how to build it and responds 404', async () => {
  await using folder = await createFolder();
  for (const name of ['bin', 'src', 'package.json'])
    await cp(join(ROOT, name), join(folder.path, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder.path, 'node_modules'));
  const variables = { AUTH_PASSWORD: PASSWORD, SECRET_TOKEN: 'k'.repeat(32) };
  await using service = await new ServiceProcess(
    folder.path,
    variables,
    [],
    join(folder.path, 'bin/bookkeeping.mjs'),
  ).listening();
  for (const path of ['/', '/console', '/console/']) {
    const response = await fetch(service.url + path, {
      headers: { Accept: 'text/html' },
      redirect: 'manual',
    });
    assert.deepEqual(await response.json(), { status: 404, message: 'Not found', data: null });
    assert.equal(response.headers.get('vary'), null);
  }
  const { complaints } = await service.stop();
  assert.equal(
    complaints,
    'bookkeeping: warning: the web console is not built; npm run build:console builds it\n',
  );
});

test('A build that fails before npm start is reported in two lines, and does not fail npm start', async () => {
  await using folder = await createFolder();
  for (const name of [
    'bin',
    'client',
    'formats',
    'scripts',
    'src',
    'package.json',
    'package-lock.json',
    ...CONSOLE,
  ]) {
    await cp(join(ROOT, name), join(folder.path, name), { recursive: true });
  }
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['scripts/build-console.mjs', '--if-possible'],
    {
      cwd: folder.path,
      env: { PATH: process.env.PATH },
    },
  );
  assert.equal(stdout, '');
  assert.match(
    stderr,
    /^The web console could not be built: Vite is not installed; .*\nThe service starts without it\..*\n$/,
  );
});
