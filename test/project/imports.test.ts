import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { describe, test } from 'node:test';
import { listConsoleSources, listProductSources, listSources, listToolSources, readText } from './files.ts';
import { findCycle, type ImportRule, importsOf, type Sources, violationsOf } from './imports.ts';

/** Imports point inward: process → app → server → search, history → api → http, and book at the centre. */
const RULES: readonly ImportRule[] = [
  {
    rule: 'app.ts and server.ts alone import search/ and history/',
    modules: /^(?!(app|server)\.ts|history\/|search\/)/,
    mayNotImport: /^(history|search)\//,
  },
  {
    rule: 'changes/ is above the store, and below search/ and history/',
    modules: /^changes\//,
    mayImport: /^(changes|store|book)\//,
  },
  {
    rule: 'search/ and history/ alone import changes/',
    modules: /^(?!(changes|history|search)\/)/,
    mayNotImport: /^changes\//,
  },
  { rule: 'search/ and history/ do not know each other', modules: /^history\//, mayNotImport: /^search\// },
  { rule: 'search/ and history/ do not know each other', modules: /^search\//, mayNotImport: /^history\// },
  {
    rule: 'of search/ and history/, what handles or describes requests imports api/',
    modules: /^(search\/(?!(search-handler|operations)\.ts)|history\/(?!(handlers|ids|operations)\.ts))/,
    mayNotImport: /^api\//,
  },
  { rule: 'a leaf imports nothing', modules: /^(json\/|secret\.ts)/, mayImport: /^json\// },
  { rule: 'book/ imports the JSON reader only', modules: /^book\//, mayImport: /^(book|json)\// },
  { rule: 'log/ imports nothing', modules: /^log\//, mayImport: /^log\// },
  {
    rule: 'auth/ imports the JSON reader, its errors and secrets',
    modules: /^auth\//,
    mayImport: /^(auth|json)\/|^secret\.ts$/,
  },
  {
    rule: 'http/ knows no book, store or endpoint',
    modules: /^http\//,
    mayImport: /^(http|log|json)\//,
  },
  {
    rule: 'api/ knows no engine',
    modules: /^api\//,
    mayImport: /^(api|http|web|auth|book|json|log)\//,
  },
  {
    rule: 'web/ knows no book and no store',
    modules: /^web\//,
    mayImport: /^(web|http)\//,
  },
  {
    rule: 'store/ imports only book/',
    modules: /^store\//,
    mayImport: /^(store|book)\/|^secret\.ts$/,
  },
  {
    rule: 'the engines do not know each other',
    modules: /^(store|changes|history|search)\/sqlite\//,
    mayNotImport: /^(store|changes|history|search)\/postgres\//,
  },
  {
    rule: 'the engines do not know each other',
    modules: /^(store|changes|history|search)\/postgres\//,
    mayNotImport: /^(store|changes|history|search)\/sqlite\//,
  },
  {
    rule: 'an engine is chosen in one place',
    modules: /^store\/(?!load-engine\.ts|address\.ts|engine\.ts)[^/]*$/,
    mayNotImport: /^store\/(sqlite|postgres)\//,
  },
  {
    rule: 'an address names an engine, and opens none',
    modules: /^store\/address\.ts$/,
    mayImport: /^store\/postgres\/connection\/conninfo\.ts$/,
  },
  {
    rule: 'app.ts and server.ts alone connect the parts',
    modules: /^(?!(app|server)\.ts|api\/|http\/|web\/|metrics\/|(history|search)\/[^/]*$)/,
    mayNotImport: /^(api|http(?!\/(body-)?limits\.ts$))\/|^web\/(?!console\.ts)/,
  },
  {
    rule: 'app.ts and the command line load an engine',
    modules: /^(?!app\.ts|cli\/|\.\.\/formats\/cli\/)/,
    mayNotImport: /^store\/load-engine\.ts$/,
  },
  {
    rule: 'the command line knows no HTTP and no engine',
    modules: /^cli\//,
    mayImport:
      /^(cli|book|config)\/|^\.\.\/(client\/index|formats\/cli\/(import|export)|mcp\/command|web-hook\/follow)\.ts$|^(app|secret|auth\/tokens|store\/[^/]+)\.ts$/,
  },
  { rule: 'the command line has its library', modules: /^(?!cli\/)/, mayNotImport: /^commander$/ },
  {
    rule: 'main.ts alone starts the command line',
    modules: /^(?!main\.ts|cli\/|\.\.\/)/,
    mayNotImport: /^cli\//,
  },
  {
    rule: 'a driver has its folder',
    modules: /^(?!(store|changes|history|search)\/sqlite\/|config\/env-file\.ts)/,
    mayNotImport: /^node:sqlite$/,
  },
  {
    rule: 'a driver has its folder',
    modules: /^(?!(store|changes|history|search)\/postgres\/)/,
    mayNotImport: /^pg(\/|-|$)/,
  },
  {
    rule: 'config.ts reads the environment',
    modules: /^(?!config\/config\.ts)/,
    mayNotImport: /^(node:)?process$/,
  },
  {
    rule: 'the service is one process',
    modules: /^/,
    mayNotImport: /^node:(cluster|child_process)$/,
  },
  {
    rule: 'metrics/ imports only what reports to it',
    modules: /^metrics\//,
    mayImport: /^metrics\/|^store\/observer\.ts$/,
  },
  {
    rule: 'app.ts and server.ts alone connect metrics',
    modules: /^(?!(app|server)\.ts|metrics\/)/,
    mayNotImport: /^metrics\//,
  },
  {
    rule: 'the framework has its folders',
    modules: /^(?!http\/|api\/|web\/|(history|search)\/[^/]*$)/,
    mayNotImport: /^(@?fastify(\/|$)|node:https?$)/,
  },
  {
    rule: 'the command line alone imports products',
    modules: /^(?!\.\.\/|cli\/)/,
    mayNotImport: /^\.\.\//,
  },
  {
    rule: 'client/ imports the types of the contract, and nothing that browsers lack',
    modules: /^\.\.\/client\//,
    mayNotImport: /^(?!\.\.\/client\/|book\/contract\.ts$)/,
  },
  {
    rule: 'formats/ imports books, JSON and limits, and nothing that browsers lack',
    modules: /^\.\.\/formats\/(?!cli\/)/,
    mayNotImport: /^(?!\.\.\/formats\/(?!cli\/)|(book|json)\/|http\/body-limits\.ts$)/,
  },
  {
    rule: 'import and export are commands on formats and a store',
    modules: /^\.\.\/formats\/cli\//,
    mayImport: /^\.\.\/formats\/|^book\/|^(cli\/[^/]+|config\/config|store\/[^/]+)\.ts$/,
  },
  {
    rule: 'web-hook/ is a command on the client',
    modules: /^\.\.\/web-hook\//,
    mayImport: /^\.\.\/(web-hook\/|client\/index\.ts$)|^cli\/[^/]+\.ts$/,
  },
  {
    rule: 'the server of mcp/ imports the client and entity tags',
    modules: /^\.\.\/mcp\/server\.ts$/,
    mayImport: /^\.\.\/client\/index\.ts$|^book\/entity-tag\.ts$/,
  },
  {
    rule: 'mcp/ is a command that makes tokens',
    modules: /^\.\.\/mcp\/command\.ts$/,
    mayImport: /^\.\.\/mcp\/server\.ts$|^(cli\/[^/]+|auth\/tokens|config\/(config|version)|secret)\.ts$/,
  },
];

const sources: Sources = new Map(
  [...listSources(), ...listProductSources()].map((path) => [posix.relative('src', path), readText(path)]),
);

describe('The imports of the service', () => {
  test('point inward', () => {
    assert.ok(sources.size > 0);
    assert.deepEqual(violationsOf(sources, RULES), []);
  });

  test('have existing modules', () => {
    const ours = sources.entries().flatMap(([path, source]) => importsOf(path, source));
    assert.deepEqual(
      [...ours].filter((path) => path.endsWith('.ts') && !sources.has(path)),
      [],
    );
  });

  test('have no cycles', () => {
    assert.equal(findCycle(sources), undefined);
  });
});

describe('The imports of the campaigns, the benchmark, the conformance kit and what they share with the tests', () => {
  const tools = new Map(listToolSources().map((path) => [path, readText(path)]));

  test('are no tests', () => {
    assert.ok(tools.size > 0);
    const ours = [...tools].flatMap(([path, source]) =>
      importsOf(path, source).map((imported) => `${path} imports ${imported}`),
    );
    assert.deepEqual(
      ours.filter((line) => / imports test\//.test(line)),
      [],
    );
  });

  test('have no cycles', () => {
    assert.equal(findCycle(tools), undefined);
  });
});

test('Only config.ts reads the environment', () => {
  const readers = [...sources.keys()].filter((path) =>
    /\bprocess\s*\.\s*env\b/.test(sources.get(path) ?? ''),
  );
  assert.deepEqual(readers, ['config/config.ts']);
});

describe('The imports of the web console', () => {
  const ofConsole = new Map(listConsoleSources().map((path) => [path, readText(path)]));
  const imported = ofConsole.entries().flatMap(([path, source]) => importsOf(path, source));
  const ours = [...imported].filter(
    (path) => /^(src|console|bookkeeping-\w+)\//.test(path) || path.startsWith('.'),
  );

  test('are its own modules and texts, the client, the formats and the folding of texts', () => {
    const shared =
      /^(bookkeeping-(client\/index\.ts$|formats\/[\w-]+\.ts$)|src\/book\/(folded|tagged)-text\.ts$|console\/src\/(language\/\w+(\.later)?\.json|style\/\w+\.css)$)/;
    assert.ok(ours.includes('bookkeeping-client/index.ts'));
    assert.deepEqual(
      ours.filter((path) => !shared.test(path) && !ofConsole.has(path)),
      [],
    );
  });

  test('have no cycles', () => {
    assert.equal(findCycle(ofConsole), undefined);
  });

  test('run one way: each layer imports only those before it', () => {
    const layers = ['state', 'language', 'ui', 'features'];
    const rules = layers.map((layer, index) => ({
      rule: `${layer}/ is above ${layers[index - 1] ?? 'none'}`,
      modules: new RegExp(`^console/src/${layer}/`),
      mayImport: new RegExp(`^console/src/(${layers.slice(0, index + 1).join('|')})/`),
    }));
    assert.deepEqual(violationsOf(ofConsole, rules), []);
    const planted = new Map(ofConsole).set(
      'console/src/ui/a.ts',
      `import { x } from '../features/use-app.ts';`,
    );
    assert.equal(violationsOf(planted, rules).length, 1);
  });
});

describe('The check of imports', () => {
  const PLANTED: Record<string, [path: string, source: string, violation: RegExp]> = {
    'of a store by http/': [
      'http/response.ts',
      `import { x } from '../store/load-engine.ts';`,
      /http\/ knows no book/,
    ],
    'of the book by http/': [
      'http/response.ts',
      `import type { Book } from '../book/book.ts';`,
      /http\/ knows no book/,
    ],
    'of a type only': [
      'book/book.ts',
      `import type { X } from '../auth/tokens.ts';`,
      /book\/ imports the JSON reader/,
    ],
    'for its effects': ['log/log.ts', `import '../book/book.ts';`, /log\/ imports nothing/],
    'over several lines': [
      'book/book.ts',
      `import {\n  envelope,\n  outcomes,\n} from "../http/outcomes.ts";`,
      /book\/ imports the JSON reader/,
    ],
    'that is exported again': ['auth/tokens.ts', `export * from '../config/config.ts';`, /auth\/ imports/],
    'at run time': [
      'store/batch-queue.ts',
      `const { send } = await import('../http/response.ts');`,
      /only book/,
    ],
    'of a driver by http/': ['http/response.ts', `import { DatabaseSync } from 'node:sqlite';`, /a driver/],
    'of a driver by the other engine': [
      'store/sqlite/book-columns.ts',
      `import type { Pool } from 'pg';`,
      /a driver/,
    ],
    'of the history by a handler': [
      'api/book-handlers.ts',
      `import type { X } from '../history/book-history.ts';`,
      /alone import search/,
    ],
    'of the history by the store': [
      'store/sqlite/book-store.ts',
      `import { x } from '../../history/change-page.ts';`,
      /alone import search/,
    ],
    'of the log of changes by the store': [
      'store/sqlite/books-table.ts',
      `import { x } from '../../changes/sqlite/change-log.ts';`,
      /alone import changes/,
    ],
    'of the history by the log of changes': [
      'changes/postgres/tables.ts',
      `import { x } from '../../history/change-cursor.ts';`,
      /below search/,
    ],
    'of api/ by an engine of the search': [
      'search/searcher.ts',
      `import { x } from '../api/many-books.ts';`,
      /what handles or describes requests/,
    ],
    'of the history by the search': [
      'search/search-handler.ts',
      `import type { X } from '../history/book-history.ts';`,
      /do not know each other/,
    ],
    'of anything by a leaf': ['json/json-object.ts', `import { x } from '../book/book.ts';`, /a leaf/],
    'of the other engine': [
      'store/sqlite/book-columns.ts',
      `import { x } from '../postgres/errors.ts';`,
      /each other/,
    ],
    'of an engine by what both share': [
      'store/batch-queue.ts',
      `import { x } from './sqlite/errors.ts';`,
      /one place/,
    ],
    'of http/ by the process': ['main.ts', `import { x } from './http/outcomes.ts';`, /connect the parts/],
    'of the cluster by the process': ['process/serve.ts', `import x from 'node:cluster';`, /one process/],
    'of http/ by the command line': ['cli/run.ts', `import { x } from '../http/outcomes.ts';`, /no HTTP/],
    'of an engine by the command line': [
      'cli/run.ts',
      `import { prepareTables } from '../store/sqlite/books-table.ts';`,
      /no engine/,
    ],
    'of the command line by the service': [
      'process/serve.ts',
      `import { run } from '../cli/run.ts';`,
      /starts the command line/,
    ],
    'of the book by the client': [
      '../client/list.ts',
      `import type { X } from '../src/book/book.ts';`,
      /client\//,
    ],
    'of Node by the client': ['../client/abort.ts', `import { once } from 'node:events';`, /client\//],
    'of the client by the service': [
      'http/response.ts',
      `import { x } from '../../client/list.ts';`,
      /alone imports products/,
    ],
    'of an engine by the import': [
      '../formats/cli/importer.ts',
      `import type { X } from '../../src/store/sqlite/archive.ts';`,
      /commands on formats/,
    ],
    'of the store by a format': [
      '../formats/csv.ts',
      `import type { X } from '../src/store/address.ts';`,
      /formats\//,
    ],
    'of Node by a format': ['../formats/csv.ts', `import { Buffer } from 'node:buffer';`, /formats\//],
    'of the service by the web hook': [
      '../web-hook/web-hook.ts',
      `import { x } from '../src/http/limits.ts';`,
      /on the client/,
    ],
    'of tokens by the server of assistants': [
      '../mcp/server.ts',
      `import { x } from '../src/auth/tokens.ts';`,
      /client and entity tags/,
    ],
    'of metrics by the store': [
      'store/batch-queue.ts',
      `import { x } from '../metrics/metrics.ts';`,
      /metrics/,
    ],
    'of the store by metrics': [
      'metrics/store.ts',
      `import { x } from '../store/batch-queue.ts';`,
      /reports to it/,
    ],
    'of the framework by the app': ['app.ts', `import fastify from 'fastify';`, /the framework/],
  };
  for (const [what, [path, source, violation]] of Object.entries(PLANTED)) {
    test(`detects an import ${what}`, () => {
      const violations = violationsOf(new Map([...sources, [path, source]]), RULES);
      assert.match(violations.join('\n'), violation);
      assert.ok(
        violations.every((line) => line.startsWith(`${path} imports `)),
        violations.join('\n'),
      );
    });
  }

  test('detects a cycle', () => {
    const planted = new Map([
      ['main.ts', `import { book } from './book.ts';`],
      ['book.ts', `import './json.ts';`],
      ['json.ts', `export type { Book } from './book.ts';`],
    ]);
    assert.deepEqual(findCycle(planted), ['book.ts', 'json.ts', 'book.ts']);
  });
});
