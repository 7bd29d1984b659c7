import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { exists, listProductSources, listSources, readText } from './files.ts';
import { codeIn, rowsUnder } from './markdown.ts';

const LIMITS = 'docs/limits.md';

const document = readText(LIMITS);
const rows = rowsUnder(document, 'limit', 'value', 'constant', 'at the limit', 'against').map(
  ([bound = '', value = '', constant = '', , against, link = '']) => {
    const [, title = '', path = ''] = /^\[(.*)\]\((.*)\)$/.exec(link) ?? [];
    return {
      bound,
      value,
      constant: codeIn(constant) ?? '',
      against,
      title,
      path: join(dirname(LIMITS), path),
    };
  },
);

/** Sizes of steps, waits between attempts and similar constants, which reject nothing. */
const NO_BOUNDS = [
  'src/book/book.ts#ID_MAX',
  'src/book/book.ts#YEAR_MAX',
  'src/auth/throttle.ts#NAME_LENGTH_MAX',
  'src/http/body/body-reader.ts#UNCOUNTED_BYTES_MAX',
  'src/history/sqlite/history.ts#SCANNED_MAX',
  'src/log/log.ts#BLOCK_BYTES_MAX',
  'src/log/log.ts#LAST_ATTEMPTS_MAX',
  'src/store/batch-queue.ts#GATHERING_TURNS_MAX',
  'src/search/indexed-run.ts#COMPARED_MAX',
  'src/search/indexed-run.ts#RANGES_CANDIDATES_MAX',
  'src/search/indexed-run.ts#SORTED_MAX',
  'src/search/indexed-run.ts#TWIN_KEYS_MAX',
  'src/search/indexed-run.ts#READ_MAX',
  'src/search/blocks.ts#BLOCK_BOOKS_MAX',
  'src/search/scan-run.ts#KEPT_MAX',
  'src/search/page-builder.ts#CALL_MS_MAX',
  'src/search/page-builder.ts#PAGE_MS_MAX',
  'src/search/page-builder.ts#SEARCH_BOOKS_MAX',
  'src/search/page-builder.ts#SKIPPED_MAX',
  'src/search/sqlite/common-beginnings.ts#REMEMBERED_MAX',
  'src/search/unselective-paths.ts#PATHS_MAX',
  'src/store/limits.ts#REMOVAL_MAX',
  'src/store/page.ts#PAGE_BOOKS_MAX',
  'src/store/inspection.ts#COUNTED_MAX',
  'src/store/postgres/connection/connect.ts#PREPARE_TIMEOUT_MS',
  'src/search/postgres/trigrams.ts#TRIGRAMS_MAX',
  'src/store/postgres/migrations.ts#ATTEMPTS_MAX',
  'src/search/postgres/schema.ts#CREATION_MS_MAX',
  'src/search/postgres/schema.ts#FOLDED_BYTES_MAX',
  'src/store/sqlite/files/connection.ts#BLOCKING_TIMEOUT_MS',
  'src/changes/sqlite/prepared.ts#STATEMENTS_MAX',
  'src/search/sqlite/trigrams.ts#PART_LENGTH_MAX',
];

const UNITS: Readonly<Record<string, number>> = {
  KiB: 1_024,
  MiB: 1_024 * 1_024,
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
};

/** The amount in a cell of the table; times in milliseconds. */
function amountIn(cell: string): number {
  const [, digits = '', unit = ''] = /^([0-9.,]+)(?: ([A-Za-z]+))?$/.exec(cell) ?? [];
  return Number(digits.replaceAll(',', '')) * (UNITS[unit] ?? 1);
}

/** The value of `path#NAME` or of `path#OBJECT.member`; times in milliseconds. */
function amountOf(constant: string): number {
  const [path = '', name = ''] = constant.split('#');
  const [member = '', object] = name.split('.').toReversed();
  const source = readText(path);
  const start = object === undefined ? 0 : source.search(new RegExp(`\\b${object}\\b.*[=:]`));
  const definition = new RegExp(`\\b${member} ?[=:] ?'?([0-9A-Z][\\w* ]*)`);
  const [, expression = ''] = definition.exec(source.slice(start)) ?? [];
  assert.ok(start >= 0 && expression !== '', `${constant} does not exist`);
  const factors = expression.trim().split(' * ');
  return factors.reduce(
    (product, factor) =>
      product * (/^[0-9]/.test(factor) ? Number(factor.replaceAll('_', '')) : amountOf(`${path}#${factor}`)),
    name.includes('SECONDS') ? 1_000 : 1,
  );
}

describe(`The tables in ${LIMITS}`, () => {
  test('has each bound once', () => {
    assert.ok(rows.length > 40);
    assert.deepEqual(
      rows.map(({ bound }) => bound),
      [...new Set(rows.map(({ bound }) => bound))],
    );
  });

  test('say what each is against, in the words of the first', () => {
    const words = rowsUnder(document, 'against', 'meaning').map(([word]) => word);
    assert.deepEqual(new Set(rows.map(({ against }) => against)), new Set(words));
  });

  for (const { bound, value, constant, title, path } of rows) {
    test(`has the value of the code: ${bound}`, () => {
      assert.equal(amountIn(value), amountOf(constant));
    });

    test(`names a test that exists: ${bound}`, () => {
      assert.ok(title !== '' && exists(path), path);
      assert.ok(readText(path).includes(title), title);
    });
  }

  test('has every constant of the service whose name ends with MAX or TIMEOUT_MS', () => {
    const constants = [...listSources(), ...listProductSources()]
      .filter((path) => !/^(src\/(cli|metrics)|client|formats\/cli|mcp|web-hook)\//.test(path))
      .flatMap((path) => {
        const names = readText(path).matchAll(
          /^(?:export )?const ([A-Z_]+_MAX|[A-Z_]+_TIMEOUT_MS) = [0-9A-Z]/gm,
        );
        return names.map(([, name = '']) => `${path}#${name}`).toArray();
      });
    const listed = [...rows.map(({ constant }) => constant), ...NO_BOUNDS];
    assert.deepEqual(
      constants.filter((constant) => !listed.includes(constant)),
      [],
    );
    assert.deepEqual(
      NO_BOUNDS.filter((constant) => !constants.includes(constant)),
      [],
    );
  });
});
