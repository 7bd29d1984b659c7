import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listConsoleSources, listSources, readText } from './files.ts';
import { findCycle, type ImportRule, importsOf, type Sources, violationsOf } from './imports.ts';

const NOTHING = /^$/;

/** http → auth → book ← store, and nothing calls back up. */
const RULES: readonly ImportRule[] = [
  {
    rule: 'these know nothing of ours',
    modules: /^(contract|json|secret|env-file|log-level|version)\.ts$/,
    mayImport: NOTHING,
  },
  { rule: 'the log knows itself', modules: /^log(-terminal)?\.ts$/, mayImport: /^log(-level)?\.ts$/ },
  {
    rule: 'a book knows no framework and no engine',
    modules: /^books?\.ts$/,
    mayImport: /^((contract|json|book)\.ts|formats\/json-array\.ts)$/,
  },
  {
    rule: 'formats know the book, and nothing that a browser does not have',
    modules: /^formats\//,
    mayNotImport: /^(?!formats\/|(book|json)\.ts$)/,
  },
  { rule: 'auth knows texts and secrets', modules: /^auth\//, mayImport: /^(auth\/|json\.ts|secret\.ts)/ },
  {
    rule: 'http knows no store',
    modules: /^http\//,
    mayImport: /^(http\/|auth\/|(books?|contract|log|log-level|version)\.ts)/,
  },
  { rule: 'a store knows the book alone', modules: /^store\//, mayImport: /^(store\/|book\.ts|secret\.ts)/ },
  { rule: 'engines do not know each other', modules: /^store\/sqlite\//, mayNotImport: /^store\/postgres\// },
  { rule: 'engines do not know each other', modules: /^store\/postgres\//, mayNotImport: /^store\/sqlite\// },
  {
    rule: 'an engine is chosen in one place',
    modules: /^store\/(?!open\.ts|address\.ts)[^/]*$/,
    mayNotImport: /^store\/[^/]+\//,
  },
  {
    rule: 'an address names an engine, and opens none',
    modules: /^store\/address\.ts$/,
    mayImport: /^store\/postgres\/conninfo\.ts$/,
  },
  {
    rule: 'the parts meet in app.ts',
    modules: /^(?!app\.ts|http\/)/,
    mayNotImport: /^http\/(?!console\.ts)/,
  },
  {
    rule: 'a store is opened in app.ts, and for the command line',
    modules: /^(?!app\.ts|cli\/)/,
    mayNotImport: /^store\/open\.ts$/,
  },
  {
    rule: 'the command line knows no http, and no engine',
    modules: /^cli\//,
    mayImport: /^(cli\/|formats\/|auth\/token\.ts|(book|config|env-file|json|version)\.ts|store\/[^/]+\.ts)/,
  },
  {
    rule: 'nobody but the process knows the command line',
    modules: /^(?!main\.ts|cli\/)/,
    mayNotImport: /^cli\//,
  },
  { rule: 'a driver has its folder', modules: /^(?!store\/sqlite\/)/, mayNotImport: /^node:sqlite$/ },
  { rule: 'a driver has its folder', modules: /^(?!store\/postgres\/)/, mayNotImport: /^pg(\/|-|$)/ },
  {
    rule: 'the environment is read in config.ts',
    modules: /^(?!config\.ts)/,
    mayNotImport: /^(node:)?process$/,
  },
  {
    rule: 'processes are started in workers.ts',
    modules: /^(?!workers\.ts)/,
    mayNotImport: /^node:(cluster|child_process)$/,
  },
  {
    rule: 'workers know the app by its type',
    modules: /^workers\.ts$/,
    mayImport: /^(app|config|worker-metrics)\.ts$/,
  },
  {
    rule: 'metrics know nothing of what they measure',
    modules: /^(metrics\/|worker-metrics\.ts)/,
    mayImport: /^metrics\//,
  },
  {
    rule: 'metrics are known where the parts meet',
    modules: /^(?!app\.ts|metrics\/|worker-metrics\.ts)/,
    mayNotImport: /^metrics\//,
  },
  {
    rule: 'the framework has its folder',
    modules: /^(?!http\/)/,
    mayNotImport: /^(@?fastify(\/|$)|node:https?$)/,
  },
  {
    rule: 'the client knows the shapes of the contract, and nothing that a browser does not have',
    modules: /^client\//,
    mayNotImport: /^(?!client\/|contract\.ts$)/,
  },
  { rule: 'the service does without its client', modules: /^(?!client\/)/, mayNotImport: /^client\// },
];

const sources: Sources = new Map(listSources().map((path) => [path.replace(/^src\//, ''), readText(path)]));

describe('The imports of the service', () => {
  test('point inward', () => {
    assert.ok(sources.size > 0);
    assert.deepEqual(violationsOf(sources, RULES), []);
  });

  test('lead to modules that exist', () => {
    const ours = sources.entries().flatMap(([path, source]) => importsOf(path, source));
    assert.deepEqual(
      [...ours].filter((path) => path.endsWith('.ts') && !sources.has(path)),
      [],
    );
  });

  test('have no cycle', () => {
    assert.equal(findCycle(sources), undefined);
  });
});

test('Every package that the service installs is imported', () => {
  const { dependencies } = JSON.parse(readText('package.json')) as { dependencies: Record<string, string> };
  const imported = [...sources].flatMap(([path, source]) => importsOf(path, source));
  const isUsed = (name: string) => imported.some((path) => path === name || path.startsWith(`${name}/`));
  assert.deepEqual(
    Object.keys(dependencies).filter((name) => !isUsed(name)),
    [],
  );
});

test('The environment is read in config.ts only', () => {
  const readers = [...sources.keys()].filter((path) =>
    /\bprocess\s*\.\s*env\b/.test(sources.get(path) ?? ''),
  );
  assert.deepEqual(readers, ['config.ts']);
});

describe('The imports of the page for people', () => {
  const ofConsole = new Map(listConsoleSources().map((path) => [path, readText(path)]));
  const imported = ofConsole.entries().flatMap(([path, source]) => importsOf(path, source));
  const ours = [...imported].filter((path) => /^(src|console)\//.test(path) || path.startsWith('.'));

  test('lead to modules of its own, to the client, and to the formats of files', () => {
    const shared = /^src\/(client\/index\.ts$|formats\/)/;
    assert.ok(ours.includes('src/client/index.ts'));
    assert.deepEqual(
      ours.filter((path) => !shared.test(path) && !ofConsole.has(path)),
      [],
    );
  });

  test('have no cycle', () => {
    assert.equal(findCycle(ofConsole), undefined);
  });
});

describe('The check of imports', () => {
  const PLANTED: Record<string, [path: string, source: string, violation: RegExp]> = {
    'of a store in http/': [
      'http/books.ts',
      `import { openStore } from '../store/open.ts';`,
      /http knows no store/,
    ],
    'of a type only': ['json.ts', `import type { Book } from './book.ts';`, /know nothing of ours/],
    'for its effects': ['secret.ts', `import './json.ts';`, /know nothing of ours/],
    'over several lines': [
      'book.ts',
      `import {\n  envelope,\n  outcomes,\n} from "./http/outcomes.ts";`,
      /knows no framework/,
    ],
    'that is passed on': ['auth/token.ts', `export * from '../config.ts';`, /auth knows texts/],
    'at run time': [
      'store/batch.ts',
      `const { send } = await import('../http/answer.ts');`,
      /the book alone/,
    ],
    'of a driver in http/': [
      'http/books.ts',
      `import { DatabaseSync } from 'node:sqlite';`,
      /a driver has its folder/,
    ],
    'of a driver in the other engine': [
      'store/sqlite/schema.ts',
      `import type { Pool } from 'pg';`,
      /a driver/,
    ],
    'of the other engine': [
      'store/sqlite/schema.ts',
      `import { x } from '../postgres/errors.ts';`,
      /each other/,
    ],
    'of an engine by what both share': [
      'store/batch.ts',
      `import { x } from './sqlite/errors.ts';`,
      /in one place/,
    ],
    'of http/ by the process': [
      'main.ts',
      `import { outcomes } from './http/outcomes.ts';`,
      /parts meet in app/,
    ],
    'of the cluster by the process': [
      'serve.ts',
      `import cluster from 'node:cluster';`,
      /started in workers/,
    ],
    'of http/ by the command line': [
      'cli/check.ts',
      `import { outcomes } from '../http/outcomes.ts';`,
      /knows no http/,
    ],
    'of an engine by the command line': [
      'cli/check.ts',
      `import { prepareSchema } from '../store/sqlite/schema.ts';`,
      /and no engine/,
    ],
    'of the command line by the service': [
      'serve.ts',
      `import { run } from './cli/run.ts';`,
      /nobody but the process/,
    ],
    'of the store by the client': ['client/list.ts', `import type { Book } from '../book.ts';`, /the client/],
    'of Node by the client': ['client/abort.ts', `import { once } from 'node:events';`, /the client/],
    'of the client by the service': [
      'http/answer.ts',
      `import { readNumber } from '../client/exchange.ts';`,
      /without its client/,
    ],
    'of the store by a format': [
      'formats/csv.ts',
      `import type { BookArchive } from '../store/archive.ts';`,
      /formats know the book/,
    ],
    'of Node by a format': ['formats/csv.ts', `import { Buffer } from 'node:buffer';`, /formats know/],
    'of metrics by the store': [
      'store/batch.ts',
      `import { Metrics } from '../metrics/metrics.ts';`,
      /where the parts meet/,
    ],
    'of the store by metrics': [
      'metrics/store.ts',
      `import type { StoreObserver } from '../store/observer.ts';`,
      /what they measure/,
    ],
    'of the framework by the app': ['app.ts', `import fastify from 'fastify';`, /the framework/],
  };
  for (const [what, [path, source, violation]] of Object.entries(PLANTED)) {
    test(`notices an import ${what}`, () => {
      const violations = violationsOf(new Map([...sources, [path, source]]), RULES);
      assert.match(violations.join('\n'), violation);
      assert.ok(
        violations.every((line) => line.startsWith(`${path} imports `)),
        violations.join('\n'),
      );
    });
  }

  test('notices a cycle', () => {
    const planted = new Map([
      ['main.ts', `import { book } from './book.ts';`],
      ['book.ts', `import './json.ts';`],
      ['json.ts', `export type { Book } from './book.ts';`],
    ]);
    assert.deepEqual(findCycle(planted), ['book.ts', 'json.ts', 'book.ts']);
  });
});
