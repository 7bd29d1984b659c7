import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { REASONS } from '../../src/api/description/reasons.ts';
import { createProgram } from '../../src/cli/program.ts';
import { parseEnvFile } from '../../src/config/env-file.ts';
import { VARIABLES, type Variable } from '../../src/config/variables.ts';
import { type OutcomeName, outcomes } from '../../src/http/outcomes.ts';
import { readDocument } from '../../testkit/document.ts';
import { LOG_KEYS } from '../../testkit/log.ts';
import { listFiles } from './deployment.ts';
import { exists, listModules, listProductSources, listSources, readPackage, readText } from './files.ts';
import { anchorOf, codeIn, codeOf, headingsOf, linksOf, rowsUnder } from './markdown.ts';

const readme = readText('README.md');
const api = readText('docs/api.md');
const architecture = readText('ARCHITECTURE.md');
const contributing = readText('CONTRIBUTING.md');
const changelog = readText('CHANGELOG.md');
const { version, scripts, ...manifest } = readPackage();

const { commands } = createProgram(async () => {});
/** Such as `token --ttl`. */
const knownOptions = new Set(
  commands.flatMap((command) => command.options.map(({ long }) => `${command.name()} ${long}`)),
);
/** All words of the code and of the files of deploy/. */
const knownWords = new Set(
  [
    ...listModules().filter((path) => !path.startsWith('test/')),
    ...listFiles('deploy/**/*.{yaml,cfg}'),
  ].flatMap((path) => readText(path).match(/\w+/g) ?? []),
);
/** Variables of Node, and of the programs in docs/examples.md. */
const NOT_OURS = ['NO_COLOR', 'BOOKS_URL', 'BOOKS_USERNAME', 'BOOKS_PASSWORD'];

/** The rows of the table of variables. */
const variableRows = Object.entries<Variable<unknown>>(VARIABLES).map(
  ([name, { fallback = '', documentedDefault, meaning }]) => [
    `\`${name}\``,
    documentedDefault ?? (/^[0-9]+$/.test(fallback) ? fallback : `\`${fallback}\``),
    meaning,
  ],
);

describe('README.md', () => {
  test('has the rates of bench/RESULTS.md', () => {
    const columns = ['clients', 'one book'];
    const rows = rowsUnder(readme, ...columns);
    assert.ok(rows.length > 0);
    assert.deepEqual(rows, rowsUnder(readText('bench/RESULTS.md'), ...columns));
  });

  test('has variables with their defaults and meanings', () => {
    const rows = rowsUnder(readme, 'variable', 'default', 'meaning');
    assert.ok(rows.length > 0);
    for (const row of rows) {
      assert.deepEqual(
        row,
        variableRows.find(([name]) => name === row[0]),
      );
    }
  });
});

for (const [name, text] of Object.entries({ 'README.md': readme, 'docs/api.md': api })) {
  test(`${name} has every endpoint, whether it needs a token, and its status on success`, async () => {
    const documented = rowsUnder(text, 'method and path', 'token').map(([endpoint, token, , response]) =>
      [codeIn(endpoint ?? ''), token, response?.slice(0, 3)].join(' '),
    );
    const expected = Object.entries((await readDocument()).paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => method !== 'head' && path !== '/metrics')
        .map(([method, { security, responses }]) => {
          const status = Object.keys(responses).find((code) => code.startsWith('2'));
          return `${method.toUpperCase()} ${path} ${security.length > 0 ? 'yes' : 'no'} ${status}`;
        }),
    );
    assert.deepEqual(documented.toSorted(), expected.toSorted());
  });
}

describe('docs/api.md', () => {
  test('has every parameter of the list, and no other', async () => {
    const { parameters = [] } = (await readDocument()).paths['/books']?.get ?? {};
    const documented = rowsUnder(api, 'parameter', 'meaning').flatMap(([cell = '']) => codeOf(cell));
    const expected = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
    assert.ok(expected.length > 0);
    assert.deepEqual(documented.toSorted(), expected.toSorted());
  });

  test('has every outcome with its status, and no other', () => {
    const documented = rowsUnder(api, 'status', 'message', 'when').map(
      ([status, message = '']) => `${status} ${codeIn(message)}`,
    );
    const expected = Object.values(outcomes).map(({ status, message }) => `${status} ${message}`);
    assert.deepEqual(documented.toSorted(), expected.toSorted());
  });

  test('has the condition of every outcome, for errors in the words of /openapi.json', () => {
    const reasons = new Map(
      Object.entries(REASONS).map(([name, reason]) => [
        outcomes[name as OutcomeName].message as string,
        reason,
      ]),
    );
    for (const [, message = '', when] of rowsUnder(api, 'status', 'message', 'when')) {
      assert.ok(when, message);
      assert.equal(when, reasons.get(codeIn(message) ?? '') ?? when);
    }
  });
});

describe('docs/configuration.md', () => {
  test('has every variable with its default and meaning, and no other', () => {
    assert.deepEqual(
      rowsUnder(readText('docs/configuration.md'), 'variable', 'default', 'meaning'),
      variableRows,
    );
  });

  test('has lines of .env with their values, and lines that end the start', () => {
    const rows = rowsUnder(readText('docs/configuration.md'), 'line', 'value here');
    assert.ok(rows.length > 0);
    for (const [line = '', value = ''] of rows)
      assert.deepEqual(parseEnvFile(Buffer.from(codeIn(line) ?? '')), { A: codeIn(value) }, line);
    const unclear = rowsUnder(readText('docs/configuration.md'), 'line that ends the start').flatMap(
      ([cell = '']) => codeOf(cell),
    );
    assert.ok(unclear.length > 0);
    // Only the values of variables of the service end it.
    for (const line of unclear)
      assert.throws(() => parseEnvFile(Buffer.from(line.replace(/^A\b/, 'HOST'))), SyntaxError, line);
  });
});

test('docs/command-line.md has every command', () => {
  const documented = rowsUnder(readText('docs/command-line.md'), 'command', 'what it does').map(
    ([cell = '']) => /^`bookkeeping ([a-z-]+)/.exec(cell)?.[1] ?? cell,
  );
  assert.deepEqual(documented.toSorted(), commands.map((command) => command.name()).toSorted());
});

test('docs/assistants.md has every tool', () => {
  const documented = rowsUnder(readText('docs/assistants.md'), 'tool', 'what it does');
  const tools = readText('mcp/server.ts').matchAll(/^ *tool\(server, '(\w+)'/gm);
  assert.deepEqual(
    documented.map(([name = '']) => codeIn(name)),
    [...tools].map(([, name]) => name),
  );
});

test('The documents have the number of connections of a process to PostgreSQL', () => {
  const pools = ['src/store/postgres/pool/pool.ts', 'src/search/postgres/search.ts'];
  const [store = 0, search = 0, history = 0] = [...pools, 'src/history/postgres/history.ts'].map((path) =>
    [...readText(path).matchAll(/\bconnectionsMax: ([0-9]+)/g)].reduce(
      (sum, [, max]) => sum + Number(max),
      0,
    ),
  );
  const [off, on] = [store + search, store + search + history];
  // Of the 100 of PostgreSQL, 3 are reserved for superusers.
  const [copiesOff, copiesOn] = [off, on].map((connections) => Math.floor((100 - 3) / connections));
  for (const [path, ...texts] of [
    [
      'docs/scaling.md',
      `A copy uses up to ${off}:`,
      `copies × ${off} `,
      `is enough for ${copiesOff} copies. With \`HISTORY=on\` a copy uses ${history} more, so count ${on}, and the default is enough for ${copiesOn}.`,
    ],
    [
      'docs/postgresql.md',
      `default_pool_size = ${off} `,
      `at most ${off} at once, ${on} with HISTORY=on`,
      `copies × ${off} `,
    ],
    ['docs/limits.md', `up to ${off} connections, and ${on} with \`HISTORY=on\``],
  ] as const) {
    const text = readText(path).replaceAll(/\s+/g, ' ');
    for (const expected of texts) assert.ok(text.includes(expected), `${path}: ${expected}`);
  }
});

test('.env.example has every variable with its default, and no other', () => {
  const assignments = [...readText('.env.example').matchAll(/^#?([A-Z_]+)=(.*)$/gm)];
  assert.deepEqual(
    assignments.map(([, name, value]) => [name, value]),
    Object.entries<Variable<unknown>>(VARIABLES).map(([name, { fallback = '' }]) => [name, fallback]),
  );
});

test('docs/console.md has the keys that the console lists', () => {
  const { shortcutList, editingShortcuts } = JSON.parse(
    readText('console/src/language/en.later.json'),
  ) as typeof import('../../console/src/language/en.later.json');
  assert.deepEqual(
    rowsUnder(readText('docs/console.md'), 'key', 'what it does'),
    Object.entries({ ...shortcutList, ...editingShortcuts }),
  );
});

test('docs/operating.md has every field of the log, and no other', () => {
  const fields = rowsUnder(readText('docs/operating.md'), 'field', 'meaning').flatMap(([cell = '']) =>
    codeOf(cell),
  );
  assert.deepEqual(fields.toSorted(), [...LOG_KEYS].toSorted());
});

describe('ARCHITECTURE.md', () => {
  const paths = codeOf(architecture).filter(isPath);

  test('names files and folders that exist', () => {
    assert.ok(paths.length > 0);
    assert.deepEqual(
      paths.filter((path) => !exists(path)),
      [],
    );
  });

  test('names what only one of the two engines has', () => {
    const named = rowsUnder(architecture, 'engine', 'only there').flatMap(([, cell = '']) => codeOf(cell));
    const entries = ['store', 'changes', 'search'].flatMap((part) => {
      const entriesOf = (engine: string) =>
        listSources().flatMap((path) => new RegExp(`^src/${part}/${engine}/([^/]+/?)`).exec(path)?.[1] ?? []);
      const [sqlite, postgres] = [new Set(entriesOf('sqlite')), new Set(entriesOf('postgres'))];
      return [
        ...[...sqlite.difference(postgres)].map((name) => `src/${part}/sqlite/${name}`),
        ...[...postgres.difference(sqlite)].map((name) => `src/${part}/postgres/${name}`),
      ];
    });
    assert.deepEqual(named.toSorted(), entries.toSorted());
  });

  test('names every folder of src/ and of the products', () => {
    const folders = new Set([...listSources(), ...listProductSources()].map((path) => `${dirname(path)}/`));
    folders.delete('src/');
    assert.deepEqual(
      [...folders].filter((folder) => !paths.includes(folder)),
      [],
    );
  });
});

describe('CONTRIBUTING.md', () => {
  const reasons = rowsUnder(contributing, 'package', 'why');
  const dependencies = {
    ...manifest.dependencies,
    ...manifest.devDependencies,
    ...manifest.optionalDependencies,
  };

  test('has every dependency with its reason, and no other', () => {
    assert.deepEqual(
      reasons.map(([name = '']) => codeIn(name) ?? name).toSorted(),
      Object.keys(dependencies).toSorted(),
    );
    for (const [name = '', why] of reasons) assert.ok(why, name);
  });

  test('states that versions are exact, and they are', () => {
    for (const [name, range] of Object.entries(dependencies)) {
      assert.match(range, /^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$/, name);
    }
  });

  test('names files and folders that exist', () => {
    const paths = codeOf(contributing).filter(isPath);
    assert.deepEqual(
      paths.filter((path) => !exists(path)),
      [],
    );
  });
});

describe('CHANGELOG.md', () => {
  test('begins with the version of package.json', () => {
    const versions = headingsOf(changelog).flatMap(
      (heading) => /^\[?([0-9]+\.[^\]\s]+)/.exec(heading)?.[1] ?? [],
    );
    assert.equal(versions[0], version);
  });
});

for (const name of listFiles(
  '{,docs/,bench/,client/,console/,console/src/language/,formats/,mcp/,web-hook/}*.md',
)) {
  const text = readText(name);

  test(`The commands in ${name} exist`, () => {
    const calls = [...text.matchAll(/\bnpm (?:run ([a-z][\w:-]*)|(test|start)\b)/g)];
    for (const [command, script, shortcut] of calls) assert.ok(scripts[script ?? shortcut ?? ''], command);
  });

  // The names of older versions are in CHANGELOG.md.
  const current = name === 'CHANGELOG.md' ? '' : text.replaceAll(/\\\n\s*/g, ' ');

  test(`The options of commands, and the campaigns, in ${name} exist`, () => {
    const calls = [...current.matchAll(/\bbookkeeping ([a-z][a-z-]*)\b([^`\n|;&)]*)/g)];
    const used = calls.flatMap(([, command, rest = '']) =>
      [...rest.matchAll(/ (--[a-z-]+)/g)].map(([, option]) => `${command} ${option}`),
    );
    assert.deepEqual(
      used.filter((option) => !knownOptions.has(option)),
      [],
    );
    for (const [call, campaign] of current.matchAll(/\bcampaign -- ([a-z][a-z-]*)/g))
      assert.ok(exists(`campaigns/${campaign}/campaign.ts`), call);
  });

  test(`The metrics, variables and constants in ${name} exist`, () => {
    const names = current.match(
      /\b(?:bookkeeping|nodejs|process)_[a-z0-9_]+|\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g,
    );
    assert.deepEqual(
      (names ?? []).filter((each) => !knownWords.has(each) && !NOT_OURS.includes(each)),
      [],
    );
  });

  test(`The links in ${name} have targets`, () => {
    for (const link of linksOf(text)) assert.ok(hasTarget(link, name), link);
  });
}

test('Links without a target are detected', () => {
  assert.equal(hasTarget('README.md#configure', 'CHANGELOG.md'), true);
  assert.equal(hasTarget('MISSING.md', 'CHANGELOG.md'), false);
  assert.equal(hasTarget('README.md#missing', 'CHANGELOG.md'), false);
  assert.equal(hasTarget('#missing', 'README.md'), false);
});

/** Whether code in a document is a path of the project. */
function isPath(code: string): boolean {
  return (
    /^(src|client|console|formats|mcp|web-hook|test|conformance|campaigns|scripts|bench|\.ci)\/[\w./-]*$/.test(
      code,
    ) || /^[\w.-]+\.(md|json|ts|mjs)$/.test(code)
  );
}

/** Whether the file and heading of a link exist. */
function hasTarget(link: string, from: string): boolean {
  if (/^https?:/.test(link)) return URL.canParse(link);
  const [path = '', heading] = link.split('#');
  const target = path === '' ? from : join(dirname(from), path);
  if (!exists(target)) return false;
  return heading === undefined || headingsOf(readText(target)).map(anchorOf).includes(`#${heading}`);
}
