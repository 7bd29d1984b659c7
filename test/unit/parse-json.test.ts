import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { DEPTH_MAX, parseJson } from '../../src/json/parse-json.ts';

const MEBIBYTE = 1_024 * 1_024;

describe('parseJson', () => {
  test('accepts arrays and objects that are nested 64 deep, and rejects deeper ones', () => {
    for (const [opening, closing] of [
      ['[', ']'],
      ['{"a":', '}'],
      ['[1,', ' , "" ]'],
    ] as const) {
      const nested = (depth: number) => `${opening.repeat(depth)}1${closing.repeat(depth)}`;
      assert.deepEqual(parse(nested(64)), JSON.parse(nested(64)), opening);
      assert.equal(parse(nested(65)), 'too-deep', opening);
    }
  });

  test('counts depth, not the number of arrays and objects', () => {
    const wide = `[${'[[]],{"a":{}},'.repeat(10_000)}1]`;
    assert.deepEqual(parse(wide), JSON.parse(wide));
  });

  test('does not count what strings contain', () => {
    for (const text of ['[', '{', ']', '}', '\\"[', '\\\\\\"{', '\\u005b', '[\\\\']) {
      const body = `{"${text.repeat(200)}":["${text.repeat(200)}"]}`;
      assert.deepEqual(parse(body), JSON.parse(body), text);
      const deep = `["${text.repeat(200)}",${'['.repeat(64)}${']'.repeat(64)}]`;
      assert.equal(parse(deep), 'too-deep', text);
    }
  });

  test('does not parse what is too deep and too long to be valid', () => {
    for (const piece of ['[', '[1,', '{"a":[', '{"a":', '[[],', '["\\"",', '{"a":"]",":":']) {
      assert.equal(parse(piece.repeat(MEBIBYTE / piece.length)), 'too-deep', piece);
      assert.equal(parse(`"\\"",${piece.repeat(130)}`), 'too-deep', piece);
    }
  });

  test('rejects what is not JSON, of any length', () => {
    for (const piece of [']', '}', '[}', ']}', '"', '\\', '"\\', ' ', ',', '[]', '\0', '\\"[']) {
      for (const count of [1, 65, 130, 1_000, MEBIBYTE / 4]) {
        assert.deepEqual(parse(piece.repeat(count)), outcome(piece.repeat(count)), `${count} x ${piece}`);
        assert.equal(parse(`{"a":"${'x'.repeat(count)}`), 'not-json');
      }
    }
    assert.equal(parse(`"${'['.repeat(1_000)}`), 'not-json');
    assert.equal(parse(`"${'['.repeat(1_000)}\\"`), 'not-json');
    assert.equal(parseJson(Buffer.from([0x22, 0xff, 0x22])), 'not-utf8');
  });

  test('is JSON.parse for everything else', () => {
    const pieces = fc.constantFrom(
      '[',
      ']',
      '{',
      '}',
      '{"a":',
      '"',
      '\\',
      '"[{"',
      '1',
      ',',
      ':',
      ' ',
      '"\\\\"',
    );
    const texts = fc.array(pieces, { maxLength: 300, size: 'max' }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(fc.json(), texts, nested), (text) => {
        const result = parse(text);
        if (result !== 'too-deep') return assert.deepEqual(result, outcome(text));
        const valid = outcome(text);
        assert.ok(valid === 'not-json' || depthOf(valid) > DEPTH_MAX);
      }),
      { numRuns: 2_000 },
    );
  });
});

/** Valid JSON around the greatest depth. */
const nested = fc
  .array(fc.constantFrom(['[', ']'], ['{"]":', '}'], ['["[",', ',{}]'], ['{"a":[],"b":', '}']), {
    minLength: 60,
    maxLength: 68,
  })
  .map((levels) =>
    levels.reduce((inner, [opening = '', closing = '']) => opening + inner + closing, '"\\"[["'),
  );

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function parse(text: string): unknown {
  const json = parseJson(Buffer.from(text));
  return typeof json === 'string' ? json : json.value;
}

function outcome(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return 'not-json';
  }
}
