import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { InvalidJson, readJsonObject } from '../../src/json/json-object.ts';

const FIELDS = { title: 'text', year: 'integer' } as const;

/** The fields of a body; undefined when it is invalid. */
function read(body: string | Uint8Array) {
  const fields = readJsonObject(typeof body === 'string' ? Buffer.from(body) : body, FIELDS);
  return fields instanceof InvalidJson ? undefined : fields;
}

describe('readJsonObject rejects', () => {
  const INVALID = {
    'no bytes': '',
    'only white space': ' \n',
    'text that is not JSON': 'title=Dune',
    'a truncated object': '{"title":"Dune"',
    'text after the object': '{} {}',
    'a trailing comma': '{"title":"Dune",}',
    'a comment': '{/* none */}',
    'single quotes': "{'title':'Dune'}",
    'a bare control character in a string': '{"title":"a\nb"}',
    'an escape that JSON does not have': String.raw`{"title":"\x41"}`,
    'a number with a leading zero': '{"year":01}',
    'a number with a plus sign': '{"year":+1}',
    'a number without digits after the point': '{"year":1.}',
    'a number without digits before the point': '{"year":.5}',
    'hexadecimal digits': '{"year":0x7c}',
    'not a number': '{"year":NaN}',
    null: 'null',
    'an array': '[{"title":"Dune"}]',
    'a string': '"title"',
    'a number': '1',
    'a boolean': 'true',
    'a byte-order mark': '\uFEFF{}',
    'white space that JSON does not have': '\u00A0{}',
    'UTF-16': Buffer.from('{}', 'utf16le'),
    'a byte that UTF-8 does not have': bytes('{"title":"', 0xff, '"}'),
    'an overlong UTF-8 sequence': bytes('{"title":"', 0xc0, 0xaf, '"}'),
    'a truncated UTF-8 sequence': bytes('{"title":"', 0xc3, '"}'),
    'a surrogate in UTF-8': bytes('{"title":"', 0xed, 0xa0, 0x80, '"}'),
    'invalid UTF-8 in an unknown field': bytes('{"shelf":"', 0xff, '"}'),
  } satisfies Record<string, string | Uint8Array>;

  for (const [what, body] of Object.entries(INVALID)) {
    test(what, () => assert.equal(read(body), undefined));
  }
});

describe('A field of a JSON object', () => {
  test('is found among white space, escapes and other fields', () => {
    const body = String.raw` { "a" : { "title" : [ "}" , ":" , "\"" ] } , "\u0074itle" : "Dune" , "year":1965 } `;
    assert.deepEqual(read(body), { title: 'Dune', year: 1965 });
  });

  test('may be absent', () => {
    assert.deepEqual(read('{}'), {});
    assert.deepEqual(read('{"title":""}'), { title: '' });
  });

  test('matches in any ASCII case only', () => {
    assert.deepEqual(read('{"Title":"Dune","YEAR":1965}'), { title: 'Dune', year: 1965 });
    assert.deepEqual(read('{"title ":"a","tıtle":"b","TİTLE":"c","ti_tle":"d","titles":"e"}'), {});
  });

  test('is ignored when it is unknown', () => {
    const body = '{"__proto__":{"title":"a"},"constructor":null,"toString":1.5,"":[],"id":{"year":"x"}}';
    const fields = read(body);
    assert.deepEqual(fields, {});
    assert.equal(fields?.title, undefined);
  });

  test('that is repeated, in any case, has the last value', () => {
    assert.deepEqual(read('{"title":"a","title":"b"}'), { title: 'b' });
    assert.deepEqual(read('{"title":"a","Title":"b","title":"c"}'), { title: 'c' });
    assert.deepEqual(read('{"Title":"a","title":"b","TITLE":"c"}'), { title: 'c' });
    assert.deepEqual(read(String.raw`{"Title":"a","\u0054ITLE":"b"}`), { title: 'b' });
    assert.deepEqual(read('{"year":1,"x":{"year":9},"Year":2,"y":[{"YEAR":9}]}'), { year: 2 });
  });

  test('that is repeated is validated by its last value only', () => {
    assert.deepEqual(read('{"year":"a","Year":1.5,"year":1}'), { year: 1 });
    assert.equal(read('{"year":1,"Year":1.5}'), undefined);
    assert.equal(read('{"Title":"a","title":null}'), undefined);
  });
});

describe('A text', () => {
  test('is any string of well-formed Unicode, with control characters and noncharacters', () => {
    const title = 'Ἰλιάς 📚 \u0001\t\n\u007F\u2028\uFEFF\uFFFF "\\/';
    assert.deepEqual(read(JSON.stringify({ title })), { title });
    assert.deepEqual(read(String.raw`{"title":"\ud83d\udcda"}`), { title: '📚' });
  });

  test('has no U+0000 and no lone surrogate', () => {
    for (const title of [
      String.raw`\u0000`,
      String.raw`a\u0000b`,
      String.raw`\ud83d`,
      String.raw`\udcda\ud83d`,
    ]) {
      assert.equal(read(`{"title":"${title}"}`), undefined, title);
    }
  });

  test('of an unknown field may have them', () => {
    assert.deepEqual(read(String.raw`{"shelf":"\u0000\ud83d","title":"Dune"}`), { title: 'Dune' });
  });

  test('is a string', () => {
    for (const value of ['null', '1', 'true', '[]', '["Dune"]', '{}']) {
      assert.equal(read(`{"title":${value}}`), undefined, value);
    }
  });
});

describe('An integer', () => {
  const READ = {
    '0': 0,
    '1965': 1965,
    '-750': -750,
    '9007199254740991': Number.MAX_SAFE_INTEGER,
    '-9007199254740991': Number.MIN_SAFE_INTEGER,
    '1999.0': 1999,
    '1999.000000000000000000000000': 1999,
    '1.999e3': 1999,
    '1.999E+3': 1999,
    '10e-1': 1,
    '0.001e3': 1,
    '-7500e-1': -750,
    '0.0e-999999': 0,
    '0e999999': 0,
    '9007199254740991.0': Number.MAX_SAFE_INTEGER,
    '90071992547409910e-1': Number.MAX_SAFE_INTEGER,
    '9007.199254740991e12': Number.MAX_SAFE_INTEGER,
  };
  for (const [literal, value] of Object.entries(READ)) {
    test(`is ${value} when written ${literal}`, () =>
      assert.deepEqual(read(`{"year":${literal}}`), { year: value }));
  }

  const NOT_INTEGERS = [
    '19.5',
    '1.00000000000000000001',
    '9007199254740991.4',
    '9007199254740990.9999',
    '0.1e-1',
    '1e-1',
    '1e-400',
    '15e-1',
    '9007199254740992',
    '-9007199254740992',
    '9007199254740993.0',
    '1e16',
    '1e400',
    '-1e999999999999999999999',
  ];
  for (const literal of NOT_INTEGERS) {
    test(`is not ${literal}`, () => assert.equal(read(`{"year":${literal}}`), undefined));
  }

  test('is a number', () => {
    for (const value of ['null', '"1999"', '""', 'true', '[1]', '{"year":1}']) {
      assert.equal(read(`{"year":${value}}`), undefined, value);
    }
  });

  test('is validated by every digit, also next to a fraction in another field', () => {
    assert.deepEqual(read('{"price":9.99,"year":1965}'), { year: 1965 });
    assert.equal(read('{"year":1.00000000000000000001,"price":9}'), undefined);
  });
});

describe('An object that is nested deeper than 64', () => {
  test('is invalid, also in an unknown field; the object itself counts', () => {
    assert.deepEqual(read(`{"x":${nested(63)},"title":"Dune","year":1965}`), { title: 'Dune', year: 1965 });
    assert.deepEqual(read(`{"x":${nested(63)},"Title":"Dune","title":"Dune","year":1965.0}`), {
      title: 'Dune',
      year: 1965,
    });
    for (const name of ['x', 'title', 'year']) {
      const result = readJsonObject(Buffer.from(`{"${name}":${nested(64)}}`), FIELDS);
      assert.ok(result instanceof InvalidJson);
      assert.deepEqual([result.reason, result.detail], ['too-deep', 'nested deeper than 64'], name);
    }
    assert.equal(read(`{"x":${nested(500_000)}}`), undefined);
  });
});

describe('A JSON text of any size is read:', () => {
  const MEBIBYTE = 1_024 * 1_024;
  test('1 MiB of digits, which are not an integer', () => {
    assert.equal(read(`{"year":${'9'.repeat(MEBIBYTE)}}`), undefined);
    assert.equal(read(`{"year":0.${'9'.repeat(MEBIBYTE)}}`), undefined);
    assert.equal(read(`{"year":1e${'9'.repeat(MEBIBYTE)}}`), undefined);
  });

  test('1 MiB of zeros after the point, which are an integer', () => {
    assert.deepEqual(read(`{"year":1965.${'0'.repeat(MEBIBYTE)}}`), { year: 1965 });
  });

  test('1 MiB of backslashes, and of repeated names', () => {
    const title = '\\'.repeat(MEBIBYTE / 2);
    assert.deepEqual(read(`{"title":"${'\\'.repeat(MEBIBYTE)}","year":1.0}`), { title, year: 1 });
    assert.deepEqual(read(`{${'"Year":1,"year":2,'.repeat(MEBIBYTE / 18)}"YEAR":3}`), { year: 3 });
  });
});

function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}

/** Concatenates ASCII texts and bytes. */
function bytes(...parts: (string | number)[]): Uint8Array {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))));
}
