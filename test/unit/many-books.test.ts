import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BOOKS_MAX, type BooksRead, readBooks } from '../../src/api/many-books.ts';
import { readIds } from '../../src/history/ids.ts';
import { Rejection } from '../../src/http/rejection.ts';
import { ArrayScanner } from '../../src/json/array-scanner.ts';

const MEBIBYTE = 1_024 * 1_024;
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
    assert.deepEqual(await read(Buffer.from([0x5b, 0x7b, 0x7d, 0x2c, 0xff, 0x5d])), {
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

  test('rejects a book of more than 1 MiB, which may be valid otherwise', async () => {
    assert.deepEqual(textsOf(await read(`[${longBook(MEBIBYTE)} , ${longBook(MEBIBYTE)}]`)), [
      `[${BOOK}]`,
      `[${BOOK}]`,
    ]);
    const tooLong = { invalidIndex: 1, detail: 'longer than 1 MiB' };
    for (const element of [
      longBook(MEBIBYTE + 1),
      '{'.padEnd(MEBIBYTE, ' ').concat('}'),
      '1'.repeat(MEBIBYTE + 1),
      ...['[', '{"a":', '1', '"[', '"', '{"a":"\\u0000', '{"x":[1,'].map((piece) =>
        piece.repeat((1.2 * MEBIBYTE) / piece.length),
      ),
    ]) {
      assert.deepEqual(await read(`[{},${element}]`), tooLong, element.slice(0, 20));
      assert.deepEqual(await read(`[{},${element}`), tooLong, element.slice(0, 20));
    }
  });

  test('rejects a book that is nested deeper than 64; the array around it does not count', async () => {
    assert.deepEqual(textsOf(await read(`[${deepBook(64)}]`)), [`[${BOOK}]`]);
    const tooDeep = { invalidIndex: 1, detail: 'nested deeper than 64' };
    for (const depth of [65, 66, 1_000, 400_000])
      assert.deepEqual(await read(`[{},${deepBook(depth)}]`), tooDeep);
  });

  test('yields to the event loop within what is no book', async () => {
    for (const body of [
      ' '.repeat(16 * MEBIBYTE),
      `[${' '.repeat(16 * MEBIBYTE)}`,
      `[{}${' '.repeat(16 * MEBIBYTE)}]`,
      `[{},${' '.repeat(16 * MEBIBYTE)}{}] `,
    ]) {
      let turns = 0;
      let isReading = true;
      const count = () => {
        turns++;
        if (isReading) setImmediate(count);
      };
      setImmediate(count);
      await read(body);
      isReading = false;
      assert.ok(turns >= 60, `${turns} turns`);
    }
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

describe('readIds', () => {
  test('reads different ids in order, in any notation', async () => {
    assert.deepEqual(await ids('[]'), []);
    assert.deepEqual(await ids(' [ 3 ,1,\n2e1,4.0,0,9007199254740991] '), [3, 1, 20, 4, 0, 9007199254740991]);
  });

  test('rejects an array with the index of the first invalid id', async () => {
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    for (const [text, invalidIndex] of [
      ['[1,', 1],
      ['[1 2]', 1],
      ['[1,2]]', 2],
      ['[1,01]', 1],
      ['[1,-1]', 1],
      ['[1,1.5]', 1],
      ['[1,1.00000000000000000001]', 1],
      ['[1,9007199254740992]', 1],
      ['[1,"2"]', 1],
      ['[1,null]', 1],
      ['[1,2,[3]]', 2],
      ['[1,2,1.0]', 2],
      [`[${nested}]`, 0],
      ['['.repeat(1_000_000), 0],
      ['', undefined],
      ['1', undefined],
      ['{}', undefined],
      ['\ufeff[]', undefined],
    ] as const) {
      assert.partialDeepStrictEqual(await ids(text), { invalidIndex }, text.slice(0, 30));
    }
  });

  test(`accepts at most ${BOOKS_MAX} ids`, async () => {
    const most = Array.from({ length: BOOKS_MAX }, (_, id) => id);
    assert.deepEqual(await ids(JSON.stringify(most)), most);
    assert.partialDeepStrictEqual(await ids(JSON.stringify([...most, BOOKS_MAX])), {
      invalidIndex: BOOKS_MAX,
    });
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
  for (let round = 0; round < 20_000; round++) {
    const inside = Array.from({ length: draw(8) }, () => pieces[draw(pieces.length)]).join('');
    const text = draw(10) === 0 ? inside : `[${inside}]`;
    const bytes = Buffer.from(text);
    const scanner = new ArrayScanner();
    const elements: unknown[] = [];
    // The bytes arrive in parts.
    for (let end = Math.min(1 + draw(8), bytes.length); ; end = Math.min(end + 1 + draw(8), bytes.length)) {
      const [part, isLast] = [bytes.subarray(0, end), end === bytes.length];
      for (let json = scanner.next(part, isLast); json; json = scanner.next(part, isLast))
        elements.push(parse(json));
      if (isLast || scanner.error) break;
    }
    const whole = parse(bytes);
    if (Array.isArray(whole)) {
      arrays++;
      assert.deepEqual([elements, scanner.error], [whole, undefined], text);
    } else assert.ok(scanner.error !== undefined || elements.includes(undefined), text);
  }
  assert.ok(arrays > 1_000);
});

function longBook(length: number): string {
  return `${'{"x":"'.padEnd(length - 2, 'x')}"}`;
}

function deepBook(depth: number): string {
  return `{"x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
}

function textsOf(result: BooksRead | RejectedArray): string[] {
  assert.ok('json' in result);
  return result.json.map((array) => Buffer.from(array).toString());
}

interface RejectedArray {
  readonly invalidIndex: number | undefined;
  readonly detail: string | undefined;
}

async function ids(text: string): Promise<readonly number[] | RejectedArray> {
  return orRejected(await readIds(Buffer.from(text)));
}

async function read(body: string | Uint8Array): Promise<BooksRead | RejectedArray> {
  return orRejected(await readBooks(Buffer.from(body)));
}

function orRejected<Value>(result: Value | Rejection): Value | RejectedArray {
  if (!(result instanceof Rejection)) return result;
  assert.equal(result.outcome, 'invalidInput');
  const { detail, headers } = result;
  const index = headers['invalid-index'];
  return { invalidIndex: index === undefined ? undefined : Number(index), detail };
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}
