import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { describeRowError } from '../../formats/cli/row-error.ts';
import { guessMapping } from '../../formats/mapping.ts';
import { ID_MAX, readBook, readBookFields, readBookId, YEAR_MAX } from '../../src/book/book.ts';
import { StoreUnavailable } from '../../src/book/book-store.ts';
import { type Book, TEXT_LENGTH_MAX, TEXT_NAMES } from '../../src/book/contract.ts';
import { entityTag } from '../../src/book/entity-tag.ts';
import { Invalid } from '../../src/json/invalid.ts';

describe('An invalid body:', () => {
  // test/unit/json-object.test.ts has the others.
  const INVALID = {
    'not JSON': 'Dune',
    'an author that is an array': '{"author":["Homer"]}',
    'a year in a string': '{"year":"1999"}',
    'a fraction that rounding would lose': '{"year":1.00000000000000000001}',
    'a title with U+0000': String.raw`{"title":"a\u0000"}`,
    'a title of 4,097 characters': `{"title":"${'x'.repeat(4_097)}"}`,
    'an author of 4,097 characters': `{"author":"${'📚'.repeat(4_096)}x"}`,
  };

  for (const [what, body] of Object.entries(INVALID)) {
    test(what, () => {
      assert.ok(readBook(Buffer.from(body)) instanceof Invalid);
      assert.ok(readBookFields(Buffer.from(body)) instanceof Invalid);
    });
  }
});

/** Reads a request with a text of 4 characters. */
function read(field: string) {
  return readBookFields(Buffer.from(JSON.stringify({ [field]: 'four' })));
}

describe('A valid body:', () => {
  const dune = { title: 'Dune', author: 'Frank Herbert', year: 1965 };

  test('all fields are read', () => {
    assert.deepEqual(changes(JSON.stringify(dune)), dune);
    assert.deepEqual(readBook(Buffer.from(JSON.stringify(dune))), dune);
  });

  test('a text may have 4,096 characters, each of one or two UTF-16 code units', () => {
    for (const title of ['x'.repeat(4_096), '📚'.repeat(4_096)])
      assert.deepEqual(changes(JSON.stringify({ title })), { title });
  });

  for (const name of TEXT_NAMES)
    test(`the length of ${name} has a limit of its own, which the errors of requests and of files name`, (t) => {
      const limits: Record<string, number> = TEXT_LENGTH_MAX;
      const before = TEXT_LENGTH_MAX[name];
      t.after(() => {
        limits[name] = before;
      });
      limits[name] = 3;
      assert.deepEqual(read(name), new Invalid(`${name} must have at most 3 characters`));
      assert.deepEqual(
        TEXT_NAMES.filter((other) => read(other) instanceof Invalid),
        [name],
      );
      const message = describeRowError({ kind: 'text-too-long', field: name }, guessMapping([name]));
      assert.equal(message, `${name} has more than 3 characters`);
    });

  test('absent fields are empty in a new book, and absent in changes', () => {
    assert.deepEqual(readBook(Buffer.from('{}')), { title: '', author: '', year: 0 });
    assert.deepEqual(readBook(Buffer.from('{"year":1965}')), { title: '', author: '', year: 1965 });
    assert.deepEqual(changes('{}'), {});
  });

  test('any object is read exactly', () => {
    fc.assert(
      fc.property(bodies(), ({ text, expected }) => {
        assert.deepEqual(changes(text), expected);
      }),
      { numRuns: 1_000 },
    );
  });

  test('no bytes cause an exception', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.string().map((text) => Buffer.from(text)),
          fc.json().map((text) => Buffer.from(text)),
        ),
        (body) => {
          const fields = readBook(body);
          if (fields instanceof Invalid) assert.deepEqual(readBookFields(body), fields);
          else assert.deepEqual(Object.keys(fields), ['title', 'author', 'year']);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe('The {id} of a path', () => {
  test('is a decimal number', () => {
    assert.equal(readBookId('0'), 0);
    assert.equal(readBookId('1'), 1);
    assert.equal(readBookId('007'), 7);
    assert.equal(readBookId('9007199254740991'), ID_MAX);
  });

  test('has no other form', () => {
    const others = [
      '',
      'abc',
      '-1',
      '+1',
      '1.5',
      '1.0',
      '1e3',
      '0x1',
      ' 1',
      '1 ',
      '1\n',
      '1_000',
      '%zz',
      '١',
      'NaN',
    ];
    for (const text of others) assert.equal(readBookId(text), undefined, JSON.stringify(text));
  });

  test('is at most 9007199254740991, with any number of leading zeros', () => {
    for (const text of ['9007199254740992', '9007199254740993', '18446744073709551615', '9'.repeat(10_000)]) {
      assert.equal(readBookId(text), undefined);
    }
    assert.equal(readBookId(`${'0'.repeat(10_000)}1`), 1);
  });
});

describe('StoreUnavailable', () => {
  test('has its reason in the message', () => {
    const error = new StoreUnavailable('ECONNREFUSED');
    assert.equal(error.reason, 'ECONNREFUSED');
    assert.equal(error.message, 'the store is unavailable (ECONNREFUSED)');
  });
});

/** The fields of a body; undefined when it is invalid. */
function changes(text: string) {
  const fields = readBookFields(Buffer.from(text));
  return fields instanceof Invalid ? undefined : fields;
}

/** The text of a member, and the field and the value that it sets; undefined when it sets none. */
interface Member {
  readonly text: string;
  readonly field: string | undefined;
  readonly value: string | number | undefined;
}

/** Texts of JSON objects with the expected result, which is known without parsing. */
function bodies(): fc.Arbitrary<{ text: string; expected: Record<string, unknown> | undefined }> {
  return fc.array(members(), { maxLength: 6 }).map((all) => {
    const last = new Map(
      all.filter(({ field }) => field !== undefined).map((member) => [member.field, member.value]),
    );
    const isReadable = last.values().every((value) => value !== undefined);
    return {
      text: `{${all.map(({ text }) => text).join(',')}}`,
      expected: isReadable ? Object.fromEntries(last) : undefined,
    };
  });
}

function members(): fc.Arbitrary<Member> {
  const space = fc.constantFrom('', ' ', '\n', '\t\r');
  return fc
    .tuple(space, names(), space, fc.oneof(texts(), numbers(), otherValues()), space)
    .map(([before, [name, field], between, [literal, value], behind]) => ({
      text: `${before}${name}${between}:${between}${literal}${behind}`,
      field,
      value:
        field === undefined
          ? undefined
          : typeof value === (field === 'year' ? 'number' : 'string')
            ? value
            : undefined,
    }));
}

/** Known names in any case and with escapes, and unknown ones. */
function names(): fc.Arbitrary<[text: string, field: string | undefined]> {
  const known = fc
    .constantFrom('title', 'author', 'year')
    .chain((field) =>
      fc
        .tuple(fc.mixedCase(fc.constant(field)), fc.boolean())
        .map(([name, isEscaped]): [string, string] => [
          isEscaped
            ? `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}"`
            : `"${name}"`,
          field,
        ]),
    );
  const unknown = fc
    .oneof(fc.constantFrom('id', '__proto__', 'constructor', 'title\0', 'ye:ar', '"', '}'), fc.string())
    .filter((name) => !['title', 'author', 'year'].includes(name.toLowerCase()))
    .map((name): [string, undefined] => [JSON.stringify(name), undefined]);
  return fc.oneof({ arbitrary: known, weight: 3 }, unknown);
}

/** A JSON literal and its value for a field; undefined when it is invalid. */
type Literal = [text: string, value: string | number | undefined];

function texts(): fc.Arbitrary<Literal> {
  const units = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('\0', '\ud800', '\udc00', '"', '\\', ',', '1.0') }),
  );
  return units.map((text) => [
    JSON.stringify(text),
    text.isWellFormed() && !text.includes('\0') ? text : undefined,
  ]);
}

/** Numbers `mantissa * 10^exponent` in many notations; `bigint` decides whether one is an integer. */
function numbers(): fc.Arbitrary<Literal> {
  const mantissa = fc.oneof(
    fc.bigInt(-3_000n, 3_000n),
    fc.bigInt(-(10n ** 18n), 10n ** 18n),
    fc.constantFrom(2n ** 53n, 2n ** 53n - 1n),
  );
  return fc
    .tuple(mantissa, fc.integer({ min: -4, max: 4 }), fc.nat({ max: 24 }), fc.constantFrom('e', 'E', 'e+'))
    .map(([digits, exponent, zeros, e]) => [
      format(digits * 10n ** BigInt(zeros), exponent - zeros, e),
      wholeNumber(digits, exponent),
    ]);
}

function format(digits: bigint, exponent: number, e: string): string {
  const sign = digits < 0n ? '-' : '';
  const text = `${digits < 0n ? -digits : digits}`;
  if (exponent === 0) return sign + text;
  if (exponent > 0 || text.length <= 1) return `${sign}${text}${exponent > 0 ? e : 'e'}${exponent}`;
  // The point follows the first digit, and the exponent is adjusted.
  const shifted = exponent + text.length - 1;
  return `${sign}${text[0]}.${text.slice(1)}${shifted === 0 ? '' : `${shifted > 0 ? e : 'e'}${shifted}`}`;
}

function wholeNumber(digits: bigint, exponent: number): number | undefined {
  const scale = 10n ** BigInt(Math.abs(exponent));
  if (exponent < 0 && digits % scale !== 0n) return undefined;
  const value = exponent < 0 ? digits / scale : digits * scale;
  return value >= -BigInt(YEAR_MAX) && value <= BigInt(YEAR_MAX) ? Number(value) : undefined;
}

function otherValues(): fc.Arbitrary<Literal> {
  const values = fc.oneof(
    fc.constantFrom(null, true, false, [], {}),
    fc.array(fc.jsonValue()),
    fc.dictionary(fc.string(), fc.jsonValue()),
  );
  return values.map((value) => [JSON.stringify(value), undefined]);
}

describe('The entity tag of a book', () => {
  test('is the same in each version of the service', () => {
    const books: readonly Book[] = [
      { id: 1, title: 'The Iliad', author: 'Homer', year: -750 },
      { id: 42, title: 'Brontë – Jane Eyre 📚', author: 'Charlotte Brontë', year: 1_847 },
      { id: ID_MAX, title: '', author: '', year: 0 },
    ];
    assert.deepEqual(books.map(entityTag), [
      '"to5plQiJyIvp7KX1zlK-gG"',
      '"m62QqGcz3MgkQnHNm10sCA"',
      '"Cnq8xPT5wyGirfpep2ou_0"',
    ]);
  });

  test('changes when a part of a text moves to the next one', () => {
    const book = { id: 1, title: 'ab', author: 'ab', year: 1 } satisfies Book;
    for (const [index, name] of TEXT_NAMES.slice(0, -1).entries()) {
      const next = TEXT_NAMES[index + 1] as (typeof TEXT_NAMES)[number];
      assert.notEqual(entityTag({ ...book, [name]: 'a', [next]: 'bab' }), entityTag(book), name);
    }
  });
});
