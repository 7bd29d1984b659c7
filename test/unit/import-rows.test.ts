import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { Book } from '../../src/book.ts';
import { RENDERINGS } from '../../src/cli/export/rendering.ts';
import type { Format } from '../../src/cli/format.ts';
import { readColumns } from '../../src/cli/import/columns.ts';
import type { Row } from '../../src/cli/import/row.ts';
import { readRows } from '../../src/cli/import/rows.ts';
import { ODD_TEXTS } from '../store/texts.ts';

const FORMATS: readonly Format[] = ['csv', 'json', 'ndjson'];

/** How rows are read. */
interface Reading {
  readonly map?: string;
  readonly withIds?: boolean;
  /** How many bytes come at a time. */
  readonly chunk?: number;
}

/** The rows of a file. */
async function read(
  format: Format,
  file: string | Uint8Array,
  { map, withIds = false, chunk = 65_536 }: Reading = {},
): Promise<Row[]> {
  const bytes = Buffer.from(file);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk);
  }
  const rows: Row[] = [];
  for await (const some of readRows(format, chunks(), readColumns(map, withIds))) rows.push(...some);
  return rows;
}

/** The rows as lines: of books title, author and year, of others what is wrong. */
async function outline(format: Format, file: string | Uint8Array, reading: Reading = {}): Promise<string[]> {
  return (await read(format, file, reading)).map((row) =>
    'fault' in row
      ? `${row.line}: ${row.fault}`
      : `${row.line}: ${row.book.title}|${row.book.author}|${row.book.year}`,
  );
}

function write(format: Format, books: readonly Book[]): string {
  const { head, separator, terminator, foot, render } = RENDERINGS[format];
  return head + books.map(render).join(separator) + (books.length > 0 ? terminator : '') + foot;
}

describe('What is exported', () => {
  const text = fc.oneof(
    fc.constantFrom(...Object.values(ODD_TEXTS).filter(({ length }) => length < 1_000)),
    fc.string({
      unit: fc.constantFrom(
        '"',
        ',',
        '\n',
        '\r',
        ' ',
        ';',
        "'",
        '\\',
        '{',
        '}',
        '[',
        ']',
        '=',
        '\ufeff',
        'é',
        '😀',
      ),
    }),
    fc.string({ unit: 'grapheme' }).filter((value) => value.isWellFormed() && !value.includes('\0')),
  );
  const book = fc.record(
    {
      id: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      title: text,
      author: text,
      year: fc.integer({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }),
    },
    { noNullPrototype: true },
  );
  for (const format of FORMATS) {
    test(`is read again as it was, wherever ${format} is cut into chunks`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(book), fc.integer({ min: 1, max: 40 }), async (books, chunk) => {
          const rows = await read(format, write(format, books), { withIds: true, chunk });
          assert.deepEqual(
            rows.map((row) => ('book' in row ? row.book : row)),
            books,
          );
        }),
        { numRuns: 300 },
      );
    });
  }
});

describe('CSV', () => {
  test('has lines that end in any way, line breaks in quotes, and empty lines that do not count', async () => {
    const file = 'title,author,year\r\n\r\nA,a,1\n"B\r\nB",b,2\r\n"C\nC\rC",c,3\n\nD,d,x\n';
    const rows = [
      '3: A|a|1',
      '4: B\r\nB|b|2',
      '6: C\nC\rC|c|3',
      `10: year is not a whole number within ±9007199254740991`,
    ];
    assert.deepEqual(await outline('csv', file), rows);
    assert.deepEqual(await outline('csv', file, { chunk: 1 }), rows);
    assert.deepEqual(await outline('csv', 'title\rA\rB'), ['2: A||0', '3: B||0']);
    assert.deepEqual(await outline('csv', 'title\n\ufffd'), ['2: \ufffd||0']);
  });

  test('has years as JSON writes them, and an empty one is an absent one', async () => {
    const years = {
      '': 0,
      '1999': 1999,
      '1999.0': 1999,
      '-750.0': -750,
      '1.999e3': 1999,
      ' 5 ': 5,
      '-0': 0,
      '9007199254740991': 9007199254740991,
    };
    for (const [year, value] of Object.entries(years)) {
      assert.deepEqual(await outline('csv', `title,author,year\nA,a,${year}\n`), [`2: A|a|${value}`]);
    }
    for (const year of [
      'x',
      '1.5',
      '1999.000000000000000001',
      '9007199254740992',
      '0x10',
      '+5',
      '05',
      '1,"title":"B"',
      'null',
      '"',
    ]) {
      const [row = ''] = await outline('csv', `title,author,year\nA,a,"${year.replaceAll('"', '""')}"\n`);
      assert.match(row, /^2: year is not a whole number/, year);
    }
  });

  test('takes a quote that is out of place for what it is', async () => {
    assert.deepEqual(await outline('csv', 'title,author\n5" disk,a\n"B"b,c\nD,d'), [
      '2: 5" disk|a|0',
      '3: "B"b|c|0',
      '4: D|d|0',
    ]);
  });

  test('names its columns in the first line, in any order and case', async () => {
    assert.deepEqual(await outline('csv', 'x,YEAR, Author ,id,Title\n?,1,a,7,A\n'), ['2: A|a|1']);
    assert.deepEqual(await outline('csv', 'Titel,Autor\nA,a\n', { map: 'title=Titel,author=Autor' }), [
      '2: A|a|0',
    ]);
    assert.deepEqual(await outline('csv', 'title,author,year\nA,a,x\n', { map: 'year=' }), ['2: A|a|0']);
  });

  test('is refused as a whole without a column that is asked for', async () => {
    await assert.rejects(read('csv', ''), /none of the columns/);
    await assert.rejects(read('csv', 'a,b\n1,2\n'), /none of the columns title, author and year; see --map/);
    await assert.rejects(read('csv', 'title\n1\n', { map: 'author=authors' }), /no column authors/);
    await assert.rejects(read('csv', 'title\n1\n', { withIds: true }), /no column id/);
  });

  test('has rows that are bad by themselves', async () => {
    const file = Buffer.concat([
      Buffer.from('title,author,year\na,a,1\nA,a\nB,b,2,x\nC,\0,3\n'),
      Buffer.from('D,\xe9,4\n', 'latin1'),
      Buffer.from('E,é,5\nF,"f,6\nG,g,7\n'),
    ]);
    for (const chunk of [1, 7, 65_536]) {
      assert.deepEqual(await outline('csv', file, { chunk }), [
        '2: a|a|1',
        '3: it has 2 values, and the first line 3',
        '4: it has 4 values, and the first line 3',
        '5: author is not a text of well-formed Unicode without U+0000',
        '6: it is not UTF-8',
        '7: E|é|5',
        '8: a quote that opens in this row is not closed',
      ]);
    }
  });

  test('is not read on where a row never ends', async () => {
    const rows = await outline('csv', `title\nA\n"B${'\nb'.repeat(6_000_000)}`);
    assert.deepEqual(rows, [
      '2: A||0',
      '3: this row is longer than 8 MiB: is a quote not closed? The rest was not read',
    ]);
  });

  test('has ids from 1 on where they are read', async () => {
    const rows = await outline(
      'csv',
      'id,title\n1,A\n9007199254740991,B\n0,C\n-1,D\n,E\n9007199254740992,F\nx,G\n',
      { withIds: true },
    );
    assert.deepEqual(rows.slice(0, 2), ['2: A||0', '3: B||0']);
    for (const row of rows.slice(2))
      assert.match(row, /^\d: id is not a whole number from 1 to 9007199254740991$/);
    assert.equal(rows.length, 7);
  });
});

describe('JSON', () => {
  test('is read element by element, by the rules of a request, with the lines where they begin', async () => {
    const file =
      ' [{"title":"A"},\n  {"Title":"B","year":1.0,"id":9},\n{"title":"[\\"]}","author":\n"c"} , {"year":"1"},{"year":null},\n{"title":1} ,5,"x",[{}],{"title":"a"b}\n,{"author":"\\u0000"}]\n ';
    const rows = [
      '1: A||0',
      '2: B||1',
      '3: ["]}|c|0',
      '4: year is not a whole number within ±9007199254740991',
      '4: year is not a whole number within ±9007199254740991',
      '5: title is not a text of well-formed Unicode without U+0000',
      '5: it is not a JSON object',
      '5: it is not a JSON object',
      '5: it is not a JSON object',
      '5: it is not JSON',
      '6: author is not a text of well-formed Unicode without U+0000',
    ];
    for (const chunk of [1, 5, 65_536]) assert.deepEqual(await outline('json', file, { chunk }), rows);
    assert.deepEqual(await outline('json', '[]'), []);
    assert.deepEqual(await outline('json', ' [ \n ] \n'), []);
  });

  test('has members of other names', async () => {
    const reading = { map: 'title=name,year=Jahr', withIds: true };
    assert.deepEqual(await read('json', '[{"id":7,"name":"A","title":"B","Jahr":1999.0}]', reading), [
      { line: 1, book: { id: 7, title: 'A', author: '', year: 1999 } },
    ]);
    assert.deepEqual(await outline('json', '[{"name":"A"},{"id":0}]', reading), [
      '1: id is not a whole number from 1 to 9007199254740991',
      '1: id is not a whole number from 1 to 9007199254740991',
    ]);
  });

  const BROKEN = {
    '': '1: the file ends before its array does; the rest was not read',
    '{"title":"A"}':
      '1: a JSON array must begin here; objects on lines of their own are --format ndjson; the rest was not read',
    '[\n': '2: the file ends before its array does; the rest was not read',
    '[{},': '1: the file ends before its array does; the rest was not read',
    '[,{}]': '1: the array is broken here; the rest was not read',
    '[{},]': '1: the array is broken here; the rest was not read',
    '[{} {}]': '1: the array is broken here; the rest was not read',
    '[{}]\nx': '2: there is something behind the array; the rest was not read',
    '[{"title":"A': '1: the file ends before its array does; the rest was not read',
  };
  for (const [file, fault] of Object.entries(BROKEN)) {
    test(`is not read on where the array is broken: ${JSON.stringify(file)}`, async () => {
      assert.equal((await outline('json', file)).at(-1), fault);
    });
  }

  test('has elements of bounded length', async () => {
    const rows = await outline('json', `[{"title":"${'x'.repeat(9_000_000)}"},{"title":"A"}]`);
    assert.deepEqual(rows, ['1: it is longer than 8 MiB', '1: A||0']);
  });
});

describe('NDJSON', () => {
  test('has an object in each line, and empty lines that do not count', async () => {
    const file = '{"title":"A"}\r\n\n  \n{"title":"B"\n{"title":"C"} {}\n[]\n{"year":1}';
    const rows = [
      '1: A||0',
      '4: it is not JSON',
      '5: it is not JSON',
      '6: it is not a JSON object',
      '7: ||1',
    ];
    for (const chunk of [1, 5, 65_536]) assert.deepEqual(await outline('ndjson', file, { chunk }), rows);
  });

  test('has lines of bounded length, and of UTF-8', async () => {
    const long = `{"title":"${'x'.repeat(9_000_000)}"}\n{"title":"A"}\n`;
    assert.deepEqual(await outline('ndjson', long), ['1: it is longer than 8 MiB', '2: A||0']);
    assert.deepEqual(await outline('ndjson', Buffer.from('{"title":"\xe9"}', 'latin1')), [
      '1: it is not UTF-8',
    ]);
  });
});

describe('--map', () => {
  for (const map of ['', 'title', 'name=title', 'title=a,author=a', 'title=author', 'id=x', 'title=a,']) {
    test(`is refused when it says ${JSON.stringify(map)}`, () => {
      assert.throws(() => readColumns(map, false), /^UsageError: --map /);
    });
  }
});
