import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BOOKS_MAX, type BooksRead, readBooks } from '../../src/api/many-books.ts';
import { ArrayScanner } from '../../src/json/array-scanner.ts';

const BOOK = '{"title":"","author":"","year":0}';

describe('readBooks', () => {
  test('reads an array of books in order', async () => {
    for (const [text, books] of [
      ['[]', ''],
      [' \t\r\n[ \n] ', ''],
      ['[{}]', BOOK],
      [' [ {} , {\n}\t,{}] ', `${BOOK},${BOOK},${BOOK}`],
      ['[{"Year":1e3,"id":7},{}]', `{"title":"","author":"","year":1000},${BOOK}`],
      ['[{"title":"],[{\\"","author":"\\\\"}]', '{"title":"],[{\\"","author":"\\\\","year":0}'],
      ['[{"x":[[{"y":"]"}],{}],"year":1}]', '{"title":"","author":"","year":1}'],
      ['[{"title":"ö😀"}]', '{"title":"ö😀","author":"","year":0}'],
    ] as const) {
      assert.deepEqual(textsOf(await read(text)), books === '' ? [] : [`[${books}]`], text);
    }
  });

  test('rejects an array with the index of the first invalid book', async () => {
    for (const [text, invalidIndex] of [
      ['[', 0],
      ['[,]', 0],
      ['[null]', 0],
      ['[[{}]]', 0],
      ['["{}"]', 0],
      ['[{"title":"]', 0],
      ['[{"title":1},{"title":2}]', 0],
      ['[{"title":1} {}]', 0],
      ['[{}', 1],
      ['[{}}]', 1],
      ['[{} {}]', 1],
      ['[{}{}]', 1],
      ['[{},{}{},{}]', 2],
      ['[{},{}', 2],
      ['[{},]', 1],
      ['[{},', 1],
      ['[{}]]', 1],
      ['[{}] {}', 1],
      ['[{},{},{"year":1.5},{"year":1.5}]', 2],
      ['[{},{"year":9007199254740992}]', 1],
      ['[{},{"title":"\\ud800"}]', 1],
      ['[{},{"title":"\\u0000"}]', 1],
      [`[{},{"title":"${'x'.repeat(4_097)}"}]`, 1],
      ['', undefined],
      ['{}', undefined],
      ['null', undefined],
      ['x[]', undefined],
      ['"[]"', undefined],
      ['\ufeff[]', undefined],
    ] as const) {
      assert.partialDeepStrictEqual(await read(text), { invalidIndex }, text);
    }
    assert.deepEqual(await readBooks(Buffer.from([0x5b, 0x7b, 0x7d, 0x2c, 0xff, 0x5d])), {
      invalidIndex: 1,
      detail: 'not UTF-8',
    });
  });

  test(`accepts at most ${BOOKS_MAX} books`, async () => {
    const most = Array.from({ length: BOOKS_MAX }, () => '{}').join(',');
    assert.ok('json' in (await read(`[${most}]`)));
    assert.deepEqual(await read(`[${most},{}]`), {
      invalidIndex: BOOKS_MAX,
      detail: 'more than 10000 books',
    });
  });

  test('yields to the event loop', async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const books = Array.from({ length: BOOKS_MAX }, () => `{"title":"${'x'.repeat(900)}"}`);
    const result = await read(`[${books.join(',')}]`);
    clearInterval(timer);
    assert.ok(turns >= 5, `${turns} turns`);

    // Each turn has an array of its own, which limits their length.
    const arrays = textsOf(result);
    assert.ok(arrays.every(({ length }) => length < 400_000));
    const titles = arrays.flatMap((array) => JSON.parse(array) as { title: string }[]);
    assert.deepEqual(
      titles.map(({ title }) => `{"title":"${title}"}`),
      books,
    );
  });
});

test('ArrayScanner finds the elements of JSON.parse, or an error', () => {
  const pieces = ['[', ']', '{', '}', ',', '"', '\\', '"a"', ':', '1', ' ', '{}', '"\\""', '[]'];
  let state = 1;
  const draw = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  let arrays = 0;
  for (let round = 0; round < 200_000; round++) {
    const inside = Array.from({ length: draw(8) }, () => pieces[draw(pieces.length)]).join('');
    const text = draw(10) === 0 ? inside : `[${inside}]`;
    const bytes = Buffer.from(text);
    const scanner = new ArrayScanner();
    const elements: unknown[] = [];
    for (let json = scanner.next(bytes, true); json; json = scanner.next(bytes, true))
      elements.push(parse(json));
    const whole = parse(bytes);
    if (Array.isArray(whole)) {
      arrays++;
      assert.deepEqual([elements, scanner.error], [whole, undefined], text);
    } else assert.ok(scanner.error !== undefined || elements.includes(undefined), text);
  }
  assert.ok(arrays > 1_000);
});

function textsOf(result: BooksRead): string[] {
  assert.ok('json' in result);
  return result.json.map((array) => Buffer.from(array).toString());
}

function read(text: string): Promise<BooksRead> {
  return readBooks(Buffer.from(text));
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}
