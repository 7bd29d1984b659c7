import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { Book } from '../../src/book/book.ts';
import { describeRowError } from '../../src/cli/import/row-error.ts';
import { type BookRow, bookReader } from '../../src/formats/book-row.ts';
import { FORMATS, type Format } from '../../src/formats/file-format.ts';
import { guessMapping, type Mapping } from '../../src/formats/mapping.ts';
import { writeBooks } from '../../src/formats/rendering.ts';
import { openRows, type RowOptions } from '../../src/formats/rows.ts';
import { SPECIAL_TEXTS } from '../store/texts.ts';

interface ReadOptions extends RowOptions {
  /** Guessed by default. */
  readonly mapping?: Partial<Mapping>;
  /** The size of a chunk in bytes. */
  readonly chunk?: number;
}

async function read(
  format: Format,
  file: string | Uint8Array,
  { mapping, chunk = 65_536, ...options }: ReadOptions = {},
): Promise<BookRow[]> {
  const bytes = Buffer.from(file);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk);
  }
  const { columns, rows: all } = await openRows(format, chunks(), options);
  const readRow = bookReader(columns, guessMapping(columns, mapping));
  const rows: BookRow[] = [];
  for await (const some of all) rows.push(...some.map(readRow));
  return rows;
}

/** The rows as lines: line number, then title, author and year of a book, or the error. */
async function outline(
  format: Format,
  file: string | Uint8Array,
  options: ReadOptions = {},
): Promise<string[]> {
  const mapping = { title: 'title', author: 'author', year: 'year', id: 'id', ...options.mapping };
  return (await read(format, file, options)).map((row) => {
    const place = row.element === undefined ? row.line : `${row.line}/${row.element}`;
    return 'error' in row
      ? `${place}: ${describeRowError(row.error, mapping)}`
      : `${place}: ${row.book.title}|${row.book.author}|${row.book.year}`;
  });
}

async function write(format: Format, books: readonly Book[]): Promise<string> {
  async function* pages() {
    for (let at = 0; at < books.length; at += 2) yield books.slice(at, at + 2);
  }
  return (await Array.fromAsync(writeBooks(pages(), format))).join('');
}

const WITH_ID = { id: 'id' };

describe('An exported file', () => {
  const text = fc.oneof(
    fc.constantFrom(...Object.values(SPECIAL_TEXTS).filter(({ length }) => length < 1_000)),
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
        '-',
        '\t',
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
    test(`of ${format} is read back unchanged, with any chunk size`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(book), fc.integer({ min: 1, max: 40 }), async (books, chunk) => {
          const rows = await read(format, await write(format, books), { mapping: WITH_ID, chunk });
          assert.deepEqual(
            rows.map((row) => ('book' in row ? row.book : row)),
            books,
          );
        }),
        { numRuns: 100 },
      );
    });
  }
});

test('An exported file has a fixed form, and no text that a spreadsheet program runs as a formula', async () => {
  const books = [
    { id: 1, title: 'Emma', author: 'Austen, Jane', year: 1815 },
    { id: 2, title: '', author: '=1', year: -750 },
    { id: 3, title: "'+1", author: '\t-1', year: 0 },
  ];
  const lines = books.map((book) => JSON.stringify(book));
  assert.equal(await write('json', books), `[\n${lines.join(',\n')}\n]\n`);
  assert.equal(await write('ndjson', books), `${lines.join('\n')}\n`);
  const records = [
    'id,title,author,year',
    '1,Emma,"Austen, Jane",1815',
    "2,,'=1,-750",
    `3,''+1,"'\t-1",0`,
    '',
  ];
  assert.equal(await write('csv', books), records.join('\r\n'));
});

const NOT_A_YEAR = 'year is not a whole number within ±9007199254740991';
const NOT_A_TEXT = 'is not a text of well-formed Unicode without U+0000';

describe('CSV', () => {
  test('may have any line endings and line breaks in quotes; empty records are skipped', async () => {
    const file = 'title,author,year\r\n\r\nA,a,1\n"B\r\nB",b,2\r\n"C\nC\rC",c,3\n\nD,d,x\n,,\r\n "E",,\n';
    const rows = ['3: A|a|1', '4: B\r\nB|b|2', '6: C\nC\rC|c|3', `10: ${NOT_A_YEAR}: "x"`, '12:  "E"||0'];
    assert.deepEqual(await outline('csv', file), rows);
    assert.deepEqual(await outline('csv', file, { chunk: 1 }), rows);
    assert.deepEqual(await outline('csv', 'title\rA\rB'), ['2: A||0', '3: B||0']);
    assert.deepEqual(await outline('csv', 'title\n\ufffd'), ['2: \ufffd||0']);
    for (const empty of ['', '\n\n', 'title', 'a,b\n,\n']) assert.deepEqual(await outline('csv', empty), []);
  });

  test('has whole numbers as years; an empty year is 0', async () => {
    const years = {
      '': 0,
      '1999': 1999,
      '1999.0': 1999,
      '1999.': 1999,
      '0042': 42,
      '-0042.00': -42,
      '0': 0,
      '00': 0,
      '-750.0': -750,
      '1.999e3': 1999,
      ' 5 ': 5,
      '-0': 0,
      '9007199254740991': 9007199254740991,
      '000000000009007199254740991': 9007199254740991,
    };
    for (const [year, value] of Object.entries(years)) {
      const [row] = await read('csv', `title,author,year\nA,a,${year}\n`);
      assert.ok(row && 'book' in row && Object.is(row.book.year, value), year);
    }
    for (const year of [
      'x',
      '1.5',
      '1.00000000000000000001',
      '1999.000000000000000001',
      '9007199254740992',
      '1e400',
      'Infinity',
      '0x10',
      '+5',
      '.5',
      '1,"title":"B"',
      'null',
      '"',
    ]) {
      const [row = ''] = await outline('csv', `title,author,year\nA,a,"${year.replaceAll('"', '""')}"\n`);
      assert.equal(row, `2: ${NOT_A_YEAR}: ${JSON.stringify(year)}`);
    }
  });

  test('may have unambiguous dates as years', async () => {
    for (const [date, year] of [
      ['2019-03-05T01:00:00+01:00', 2019],
      ['2019-03-05 01:00', 2019],
      ['2019-03-05', 2019],
      ['2019-03', 2019],
      ['-0750-01-01', -750],
      ['0101-01-01T00:00:00+00:00', 0],
      ['2019/03/05', 2019],
      ['2019.3.5', 2019],
      ['5.3.2019', 2019],
      ['03/05/2019', 2019],
      ['March 5, 2019', 2019],
      ['Mar. 5th 2019', 2019],
      ['5 march 2019', 2019],
      ['1st Sept, 2019', 2019],
      ['May 2019', 2019],
    ] as const) {
      assert.deepEqual(await outline('csv', `title;year\nA;${date}\n`), [`2: A||${year}`], date);
    }
    for (const date of [
      '03/05/19',
      '19-03-05',
      '2019-3',
      '2019.5',
      '2019-03-05x',
      'c. 1815',
      'about 1815',
      'Marching 2019',
      '1815-1820',
      '5/3.2019',
    ]) {
      assert.deepEqual(await outline('csv', `title;year\nA;${date}\n`), [`2: ${NOT_A_YEAR}: "${date}"`]);
    }
  });

  test('keeps misplaced quotes as text', async () => {
    for (const chunk of [1, 5, 65_536]) {
      assert.deepEqual(
        await outline('csv', 'title,author\n5" disk,a\n"B"b,c\n"d,"d,"e""e"\nD,d', { chunk }),
        ['2: 5" disk|a|0', '3: "B"b|c|0', '4: "d,"d|e"e|0', '5: D|d|0'],
      );
    }
  });

  test('may have other delimiters, also declared as by Excel', async () => {
    for (const delimiter of [',', ';', '\t', '|']) {
      const text = `"title"${delimiter}"au,;thor"\nA,"${delimiter}"a"\n`.replace('A,"', 'A');
      assert.deepEqual(await outline('csv', text), ['2: A|a|0'], delimiter);
    }
    for (const first of ['sep=;', 'SEP=;', '"sep=;"']) {
      for (const end of ['\r\n', '\n', '\r']) {
        for (const chunk of [1, 65_536]) {
          const text = [first, 'title;author;a,b,c,d', 'A;a;1', ''].join(end);
          assert.deepEqual(await outline('csv', text, { chunk }), ['3: A|a|0'], JSON.stringify(text));
        }
      }
    }
  });

  test('has the names of its columns in the first line, in any order and case', async () => {
    assert.deepEqual(await outline('csv', 'x,YEAR, Author ,id,Title\n?,1,a,7,A\n'), ['2: A|a|1']);
    assert.deepEqual(await outline('csv', 'title,author,year\nA,a,x\n', { mapping: { year: undefined } }), [
      '2: A|a|0',
    ]);
    const { columns } = await openRows('csv', bytesOf('a,a,,a (2)\n1,2,3,4'));
    assert.deepEqual(columns, ['a', 'a (2)', '#3', 'a (2) (2)']);
    const unnamed = await openRows('csv', bytesOf('Emma;1815\nFaust;1808'), { hasHeader: false });
    assert.deepEqual(unnamed.columns, ['#1', '#2']);
    assert.deepEqual((await Array.fromAsync(unnamed.rows)).flat(), [
      { line: 1, cells: ['Emma', '1815'] },
      { line: 2, cells: ['Faust', '1808'] },
    ]);
  });

  test('with bad rows is read to the end', async () => {
    const file = Buffer.concat([
      Buffer.from('title,author,year\na,a,1\nA,a\nB\nB,b,2,x\nB,b,2,,\nC,\0,3\n,, \n'),
      Buffer.from('D,\xe9,4\n', 'latin1'),
      Buffer.from('E,é,5\nF,"f,6\nG,g,7\n'),
    ]);
    for (const chunk of [1, 7, 65_536]) {
      assert.deepEqual(await outline('csv', file, { chunk }), [
        '2: a|a|1',
        '3: it has 2 values, and the first line 3',
        '4: it has 1 value, and the first line 3',
        '5: it has 4 values, and the first line 3',
        '6: B|b|2',
        `7: author ${NOT_A_TEXT}`,
        '8: title, author and year are empty',
        '9: it is not UTF-8; if the file is Windows-1252 or Latin-1: iconv -f WINDOWS-1252 -t UTF-8 FILE',
        '10: E|é|5',
        '11: a quoted value that begins in this row is not closed; the rest was not read',
      ]);
    }
  });

  test('is read up to a row that is too long', async () => {
    const rows = await outline('csv', `title\nA\n"B${'\nb'.repeat(6_000_000)}`);
    assert.deepEqual(rows, ['2: A||0', '3: it is longer than 8 MiB']);
  });

  test('has ids from 1, if ids are read', async () => {
    const rows = await outline(
      'csv',
      'id,title\n1,A\n9007199254740991,B\n0,C\n-1,D\n,E\n9007199254740992,F\nx,G\n',
      { mapping: WITH_ID },
    );
    assert.deepEqual(rows.slice(0, 2), ['2: A||0', '3: B||0']);
    for (const row of rows.slice(2))
      assert.match(row, /^\d: id is not a whole number from 1 to 9007199254740991: /);
    assert.equal(rows.length, 7);
  });

  test('loses the apostrophe that escapes a formula', async () => {
    assert.deepEqual(await outline('csv', "title,author\n'=1+1,'tis\n''-,=1"), [
      "2: =1+1|'tis|0",
      "3: '-|=1|0",
    ]);
  });
});

describe('JSON', () => {
  test('is read by element, by the rules of a request, with line numbers', async () => {
    const file =
      ' [{"title":"A"},\n  {"Title":"B","year":1.0,"id":9},\n{"title":"[\\"]}","author":\n"c"} , {"year":"1"},{"year":null},\n{"title":1} ,5,"x",[{}],{"title":"a"b}\n,{"author":"\\u0000"},{},{"title":"x","TITLE":"C"},{"year":1.00000000000000000001}]\n ';
    const rows = [
      '1/1: A||0',
      '2/2: B||1',
      '3/3: ["]}|c|0',
      `4/4: ${NOT_A_YEAR}: "1"`,
      `4/5: ${NOT_A_YEAR}: "null"`,
      `5/6: title ${NOT_A_TEXT}`,
      '5/7: it is not a JSON object',
      '5/8: it is not a JSON object',
      '5/9: it is not a JSON object',
      '5/10: it is not JSON',
      `6/11: author ${NOT_A_TEXT}`,
      '6/12: title, author and year are empty',
      '6/13: C||0',
      `6/14: ${NOT_A_YEAR}: "1"`,
    ];
    for (const chunk of [1, 5, 65_536]) assert.deepEqual(await outline('json', file, { chunk }), rows);
    assert.deepEqual(await outline('json', '[]'), []);
    assert.deepEqual(await outline('json', ' [ \n ] \n'), []);
  });

  test('may have members of other names, in any case', async () => {
    const reading = { mapping: { title: 'Name', year: 'Jahr', id: 'id' } };
    assert.deepEqual(await read('json', '[{"id":7,"name":"A","title":"B","JAHR":1999.0}]', reading), [
      { line: 1, element: 1, book: { id: 7, title: 'A', author: '', year: 1999 } },
    ]);
    for (const id of ['', '"id":0,', '"id":"1",', '"id":1.5,']) {
      const [row = ''] = await outline('json', `[{${id}"name":"A"}]`, reading);
      assert.match(row, /^1\/1: id is not a whole number from 1 to 9007199254740991: "[^"]*"$/, id);
    }
  });

  const MALFORMED = {
    '': '1/1: a JSON array must begin here; objects on lines of their own are --format ndjson; the rest was not read',
    '{"title":"A"}':
      '1/1: a JSON array must begin here; objects on lines of their own are --format ndjson; the rest was not read',
    '[\n': '2/1: the file ends within its array',
    '[{"year":1},': '1/2: the file ends within its array',
    '[{"year":1}': '1/2: the file ends within its array',
    '[,{}]': '1/1: the JSON array is malformed here; the rest was not read',
    '[{},]': '1/2: the JSON array is malformed here; the rest was not read',
    '[{} {}]': '1/2: the JSON array is malformed here; the rest was not read',
    '[{}}]': '1/2: the JSON array is malformed here; the rest was not read',
    '[{}]\nx': '2/2: there is text after the array; it was not read',
    '[{},\n{"title":"A': '2/2: the file ends within its array',
  };
  for (const [file, error] of Object.entries(MALFORMED)) {
    test(`is read up to an error of the array: ${JSON.stringify(file)}`, async () => {
      for (const chunk of [1, 65_536]) assert.equal((await outline('json', file, { chunk })).at(-1), error);
    });
  }

  test('has elements of bounded length', async () => {
    const rows = await outline('json', `[{"title":"A"},{"x":"${'x'.repeat(9_000_000)}"},{"title":"B"}]`);
    assert.deepEqual(rows, ['1/1: A||0', '1/2: it is longer than 8 MiB']);
    assert.deepEqual(await outline('json', `[{"title":"${'x'.repeat(4_097)}"},{"title":"A"}]`), [
      '1/1: title has more than 4096 characters',
      '1/2: A||0',
    ]);
  });

  test('has elements of bounded depth', async () => {
    assert.deepEqual(
      await outline('json', `[${nested(63)},${nested(64)},${nested(100_000)},{"title":"B"}]`),
      [
        '1/1: A||0',
        '1/2: its arrays and objects are nested deeper than 64',
        '1/3: its arrays and objects are nested deeper than 64',
        '1/4: B||0',
      ],
    );
  });
});

/** An object with an array that is nested so deep. */
function nested(depth: number): string {
  return `{"title":"A","x":${'['.repeat(depth)}${']'.repeat(depth)}}`;
}

describe('NDJSON', () => {
  test('has an object in each line; empty lines are skipped', async () => {
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

  test('has UTF-8 lines of bounded length', async () => {
    const long = `{"title":"${'x'.repeat(9_000_000)}"}\n{"title":"A"}\n`;
    assert.deepEqual(await outline('ndjson', long), ['1: it is longer than 8 MiB', '2: A||0']);
    assert.match(
      (await outline('ndjson', Buffer.from('{"title":"\xe9"}', 'latin1')))[0] ?? '',
      /^1: it is not UTF-8;/,
    );
  });
});

test('A file of any format may be UTF-8 or UTF-16 with a byte-order mark, or have a given encoding', async () => {
  const files = {
    csv: 'title\nÄ – „süß“ 😀\n',
    json: '[{"title":"Ä – „süß“ 😀"}]',
    ndjson: '{"title":"Ä – „süß“ 😀"}',
  };
  for (const [format, text] of Object.entries(files)) {
    const little = Buffer.from(`\ufeff${text}`, 'utf16le');
    for (const bytes of [Buffer.from(`\ufeff${text}`), little, Buffer.from(little).swap16()]) {
      for (const chunk of [1, 65_536]) {
        const [row] = await read(format as Format, bytes, { chunk });
        assert.ok(row && 'book' in row && row.book.title === 'Ä – „süß“ 😀', `${format} ${chunk}`);
      }
    }
  }
  const western = Buffer.from('title\n\xc4pfel \x96 \x84s\xfc\xdf\x93\n', 'latin1');
  assert.deepEqual(await outline('csv', western, { encoding: 'windows-1252' }), ['2: Äpfel – „süß“||0']);
});

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
