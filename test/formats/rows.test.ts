import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { type BookReading, type BookRow, bookReader } from '../../formats/book-row.ts';
import { describeRowError } from '../../formats/cli/row-error.ts';
import { FORMATS, type Format } from '../../formats/file-format.ts';
import { ForeignFileError } from '../../formats/file-kind.ts';
import { guessMapping, type Mapping } from '../../formats/mapping.ts';
import { writeBooks } from '../../formats/rendering.ts';
import { openRows, type RowOptions } from '../../formats/rows.ts';
import type { Book } from '../../src/book/contract.ts';
import { SPECIAL_TEXTS } from '../store/texts.ts';

interface ReadOptions extends RowOptions, BookReading {
  /** Guessed by default. */
  readonly mapping?: Partial<Mapping>;
  /** The size of a chunk in bytes. */
  readonly chunk?: number;
}

async function read(
  format: Format,
  file: string | Uint8Array,
  { mapping, chunk = 65_536, acceptsUnreadYears = false, ...options }: ReadOptions = {},
): Promise<BookRow[]> {
  const bytes = Buffer.from(file);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk);
  }
  const { columns, rows: all } = await openRows(chunks(), { format, ...options });
  const readRow = bookReader(columns, guessMapping(columns, mapping), { acceptsUnreadYears });
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

const NOT_A_YEAR = 'year is not the year of a book';
const UNCLEAR =
  'its quotation marks are unclear: one that begins a value must end it too, and one inside is doubled ("")';
const NOT_A_TEXT = 'is not a text of well-formed Unicode without U+0000';

describe('CSV', () => {
  test('may have any line endings and line breaks in quotes; empty and blank records are skipped', async () => {
    const file = 'title,author,year\r\n\r\nA,a,1\n"B\r\nB",b,2\r\n"C\nC\rC",c,3\n\nD,d,x\n,,\r\n "E" ,,\n';
    const rows = ['3: A|a|1', '4: B\r\nB|b|2', '6: C\nC\rC|c|3', `10: ${NOT_A_YEAR}: "x"`, '12: E||0'];
    assert.deepEqual(await outline('csv', `${file} \n\t\n"\u00A0", ,\n`), rows);
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
      '9999': 9999,
      '-9999': -9999,
      '000000000001999': 1999,
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
      '10000',
      '12345678',
      '9007199254740991',
      '1e400',
      'Infinity',
      '0x10',
      '+5',
      '.5',
      '1,"title":"B"',
      'x null',
      '"',
    ]) {
      const [row = ''] = await outline('csv', `title,author,year\nA,a,"${year.replaceAll('"', '""')}"\n`);
      assert.equal(row, `2: ${NOT_A_YEAR}: ${JSON.stringify(year)}`);
    }
  });

  test('may lack empty cells at the end of a row, which Excel omits, but none that is used', async () => {
    const file = 'title,author,year,notes,shelf\nA,a,1\nB,b,2,x\nC,c\nD\n';
    assert.deepEqual(await outline('csv', file), [
      '2: A|a|1',
      '3: B|b|2',
      '4: it has 2 values, and the first line 5',
      '5: it has 1 value, and the first line 5',
    ]);
  });

  test('has quoted cells with blanks around them, as spreadsheets and Zotero write them', async () => {
    for (const chunk of [1, 2, 65_536]) {
      assert.deepEqual(
        await outline(
          'csv',
          '"title" , "author" ,year\n"Dune"\u00A0,"Herbert, F." ,1965\n "Em\nma"\t, "Austen" , 1815\n "A" is for,\' x ,1\n Faust , Goethe ,1808\n',
          { chunk },
        ),
        [
          '2: Dune|Herbert, F.|1965',
          '3: Em\nma|Austen|1815',
          '5:  "A" is for|\' x |1',
          '6:  Faust | Goethe |1808',
        ],
      );
    }
  });

  test('may have backslashes before quotes, as MySQL writes them, if they cannot mean anything else', async () => {
    const file = String.raw`"title";"author"
"The \"Best\" of";"X; Y"
"Records 12\"";"Y"
"\"Yes\"";"Z"
5" disk;"a \"b\" c"
"C:\";"D"
"E:\\";"F"
`;
    for (const chunk of [1, 2, 65_536]) {
      assert.deepEqual(await outline('csv', file, { chunk }), [
        '2: The "Best" of|X; Y|0',
        '3: Records 12"|Y|0',
        '4: "Yes"|Z|0',
        '5: 5" disk|a "b" c|0',
        String.raw`6: C:\|D|0`,
        String.raw`7: E:\\|F|0`,
      ]);
    }
    assert.deepEqual(
      await outline(
        'csv',
        String.raw`title,author
"a \", b","X"
`,
      ),
      ['2: a ", b|X|0'],
    );
  });

  test('with unclear quotes has a bad row, and the next line is read', async () => {
    for (const [text, rows] of Object.entries({
      '"B"x,b\nC,c\n': [`2: ${UNCLEAR}`, '3: C|c|0'],
      'The "Best",b\n"The "Best" of",b\nC,c\n': ['2: The "Best"|b|0', `3: ${UNCLEAR}`, '4: C|c|0'],
      'A,a\n"B,b\nC,c\nD,d': ['2: A|a|0', `3: ${UNCLEAR}`, '4: C|c|0', '5: D|d|0'],
      'A,"a': [`2: ${UNCLEAR}`],
      '"A","a\n"B","b"\n': [`2: ${UNCLEAR}`, '3: B|b|0'],
      '"Dune,Herbert\nEmma,Austen\nC,"x"\nD,d': [`2: ${UNCLEAR}`, '3: Emma|Austen|0', '4: C|x|0', '5: D|d|0'],
      // The second line of such a row is not a book.
      '"many\nlines" x,b\nC,c\n5" disk,d': [`2: ${UNCLEAR}`, `3: ${UNCLEAR}`, '4: C|c|0', '5: 5" disk|d|0'],
    })) {
      for (const chunk of [1, 5, 65_536]) {
        assert.deepEqual(await outline('csv', `title,author\n${text}`, { chunk }), rows, text);
      }
    }
    const long = `title,author\n"A,a\n${`B,${'b'.repeat(998)}\n`.repeat(9_000)}`;
    const rows = await read('csv', long);
    assert.deepEqual([rows.length, rows.filter((row) => 'error' in row).length], [9_001, 1]);
  });

  test('between tabs may be without quoting, as LibraryThing writes it', async () => {
    for (const [text, rows] of Object.entries({
      '"Dune\tHerbert\nEmma\tAusten\nC\t"x\nD\td': [
        '2: "Dune|Herbert|0',
        '3: Emma|Austen|0',
        '4: C|"x|0',
        '5: D|d|0',
      ],
      '"Dune\tHerbert\nEmma\tAusten"\nC\tc': ['2: "Dune|Herbert|0', '3: Emma|Austen"|0', '4: C|c|0'],
      'Dune\t"Herbert\nEmma\tAusten"\n': ['2: Dune|"Herbert|0', '3: Emma|Austen"|0'],
      '"A" is for Alibi\tGrafton': ['2: "A" is for Alibi|Grafton|0'],
      'A\t"a\tb\nc"\nC\tc': ['2: A|a\tb\nc|0', '4: C|c|0'],
      '"Many\nlines"\t"a ""b"""\nC\tc': ['2: Many\nlines|a "b"|0', '4: C|c|0'],
    })) {
      for (const chunk of [1, 5, 65_536]) {
        assert.deepEqual(await outline('csv', `title\tauthor\n${text}`, { chunk }), rows, text);
      }
    }
  });

  test('has quotes within unquoted cells', async () => {
    for (const chunk of [1, 5, 65_536]) {
      const file = 'title,author\n5" disk,a\n"e""e",e "f"\nD,d';
      assert.deepEqual(await outline('csv', file, { chunk }), [
        '2: 5" disk|a|0',
        '3: e"e|e "f"|0',
        '4: D|d|0',
      ]);
    }
  });

  test('may have other delimiters, also declared as by Excel', async () => {
    for (const delimiter of [',', ';', '\t', '|']) {
      const text = `"title"${delimiter}"au,;thor"\nA,"${delimiter}"a"\n`.replace('A,"', 'A');
      assert.deepEqual(await outline('csv', text), ['2: A|a|0'], delimiter);
    }
    for (const header of [
      'title;author (Last, First, Middle)',
      'title|author, editor',
      'title\tauthor, editor, translator',
    ]) {
      const delimiter = /[;|\t]/.exec(header)?.[0] ?? '';
      assert.deepEqual(
        await outline('csv', `${header}\nA${delimiter}a, b, c\n`, {
          mapping: { author: header.split(delimiter)[1] },
        }),
        ['2: A|a, b, c|0'],
      );
    }
    for (const first of ['sep=;', 'SEP=;', '"sep=;"', 'sep=;;;']) {
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
    const { columns } = await openRows(bytesOf('a,a,,a (2)\n1,2,3,4'));
    assert.deepEqual(columns, ['a', 'a (2)', '#3', 'a (2) (2)']);
    const unnamed = await openRows(bytesOf('Emma;1815\nFaust;1808'), { hasHeader: false });
    assert.deepEqual(unnamed.columns, ['#1', '#2']);
    assert.deepEqual((await Array.fromAsync(unnamed.rows)).flat(), [
      { line: 1, cells: ['Emma', '1815'] },
      { line: 2, cells: ['Faust', '1808'] },
    ]);
  });

  test('with bad rows is read to the end', async () => {
    const file = Buffer.concat([
      Buffer.from('title,author,year\na,ä,1\nA,a\nB\nB,b,2,x\nB,b,2,,\nC,\0,3\n,, \n'),
      Buffer.from('D,\xe9,4\n', 'latin1'),
      Buffer.from('E,é,5\nF,"f,6\nG,g,7\n'),
    ]);
    for (const chunk of [1, 7, 65_536]) {
      assert.deepEqual(await outline('csv', file, { chunk }), [
        '2: a|ä|1',
        '3: it has 2 values, and the first line 3',
        '4: it has 1 value, and the first line 3',
        '5: it has 4 values, and the first line 3',
        '6: B|b|2',
        `7: author ${NOT_A_TEXT}`,
        '9: it is not UTF-8, unlike the rest of the file',
        '10: E|é|5',
        `11: ${UNCLEAR}`,
        '12: G|g|7',
      ]);
    }
  });

  test('is read up to a row that is too long', async () => {
    const rows = await outline('csv', `title\nA\nB${'b'.repeat(9_000_000)}\nC\n`);
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

  test('has texts in formulas that only protect them, as spreadsheets read them', async () => {
    const file =
      'title,author,year\n="1984",="Orwell",="1949"\n"=""The """"Best""""""",=A1,\n"=""A""&""B""",,\n';
    assert.deepEqual(await outline('csv', file), [
      '2: 1984|Orwell|1949',
      '3: The "Best"|=A1|0',
      '4: ="A"&"B"||0',
    ]);
  });
});

describe('JSON', () => {
  test('is read by element, with line numbers', async () => {
    const file =
      ' [{"title":"A"},\n  {"Title":"B","year":1.0,"id":9},\n{"title":"[\\"]}","author":\n"c"} , {"year":"1"},{"title":"D","year":null},\n{"title":1984} ,5,"x",[{}],{"title":"a"b}\n,{"author":"\\u0000"},{},{"title":true},{"year":1.5}]\n ';
    const rows = [
      '1/1: A||0',
      '2/2: B||1',
      '3/3: ["]}|c|0',
      '4/4: ||1',
      '4/5: D||0',
      '5/6: 1984||0',
      '5/7: it is not a JSON object',
      '5/8: it is not a JSON object',
      '5/9: it is not a JSON object',
      '5/10: it is not JSON',
      `6/11: author ${NOT_A_TEXT}`,
      '6/12: title, author and year are empty',
      `6/13: title ${NOT_A_TEXT}`,
      `6/14: ${NOT_A_YEAR}: "1.5"`,
    ];
    for (const chunk of [1, 5, 65_536]) assert.deepEqual(await outline('json', file, { chunk }), rows);
    assert.deepEqual(await outline('json', '[]'), []);
    assert.deepEqual(await outline('json', ' [ \n ] \n'), []);
  });

  test('may have dates, unknown years and authors, and authors in arrays and objects', async () => {
    for (const [author, name] of [
      ['null', ''],
      ['"Austen, Jane"', 'Austen, Jane'],
      ['["Jane Austen"]', 'Jane Austen'],
      ['["Wells, H. G.","Clarke, A. C."]', 'Wells, H. G.; Clarke, A. C.'],
      ['[]', ''],
      ['[[]]', ''],
      ['[{"name":"Jane Austen","key":"/authors/1"}]', 'Jane Austen'],
      ['[{"lf":"Austen, Jane","fl":"Jane Austen"}]', 'Jane Austen'],
      ['[{"given":"Jane","family":"Austen"},{"family":"Wells"}]', 'Jane Austen; Wells'],
      ['[{"firstName":"Jane","lastName":"Austen","creatorType":"author"}]', 'Jane Austen'],
      [
        '[{"firstName":"Jane","lastName":"Austen","creatorType":"author"},{"name":"X","creatorType":"editor"}]',
        'Jane Austen',
      ],
      ['[{"name":"X","creatorType":"editor"}]', 'X'],
      [
        '[{"given":"Ludwig","non-dropping-particle":"van","family":"Beethoven","suffix":"Jr."}]',
        'Ludwig van Beethoven Jr.',
      ],
      ['[{"given":"Agrippa","dropping-particle":"d\'","family":"Aubigné"}]', "Agrippa d'Aubigné"],
      ['{"name":"Jane Austen"}', 'Jane Austen'],
      ['[{"author":{"name":"Jane Austen"}}]', 'Jane Austen'],
    ] as const) {
      assert.deepEqual(
        await outline('json', `[{"title":"A","author":${author}}]`),
        [`1/1: A|${name}|0`],
        author,
      );
    }
    for (const author of ['[{"key":"/authors/1"}]', 'true', '1.5', '[null,false]', '{}', '"\\ud800"']) {
      assert.deepEqual(
        await outline('json', `[{"title":"A","author":${author}}]`),
        [`1/1: author ${NOT_A_TEXT}`],
        author,
      );
    }
    for (const [year, value] of [
      ['null', 0],
      ['""', 0],
      ['"1817-12-20T01:00:00+01:00"', 1817],
      ['"0101-01-01T00:00:00+00:00"', 0],
      ['"1817"', 1817],
      ['1817.0', 1817],
      ['-44', -44],
      ['20190305', 2019],
      ['[1817]', 1817],
      ['[]', 0],
      ['{"date-parts":[[1817,12,20]]}', 1817],
      ['{"date-parts":[["1817"]]}', 1817],
      ['{"raw":"c1817"}', 1817],
      ['{"date-parts":[[]]}', 0],
      ['{"date-parts":[]}', 0],
    ] as const) {
      assert.deepEqual(await outline('json', `[{"title":"A","year":${year}}]`), [`1/1: A||${value}`], year);
    }
    for (const year of [
      'true',
      '1817.5',
      '[1817,2004]',
      '{}',
      '{"date-parts":5}',
      '{"date-parts":[5]}',
      '9007199254740991',
      '"x"',
    ]) {
      assert.match(
        (await outline('json', `[{"title":"A","year":${year}}]`))[0] ?? '',
        /^1\/1: year is not the year of a book: /,
        year,
      );
    }
  });

  test('may have its books inside an object, or in objects inside the elements', async () => {
    const book = '{"title":"A","author":"a","year":1}';
    for (const [file, count] of [
      [`{"status":200,"message":"ok","data":[${book},${book}]}`, 2],
      [`{"data":[${book}],"included":[{"title":"no"}]}`, 1],
      [`{"errors":[],"meta":{"title":"Mine"},"data":{"list":[${book}]}}`, 1],
      [`{"title":"My books","owners":[{"name":"me"}],"works":[${book}]}`, 1],
      [`{"1001":${book},\n"1002":${book},"1003":${book}}`, 3],
      [`{"numFound":2,"docs":[${book}]}`, 1],
      [`{"response":{"docs":[${book},${book}]}}`, 2],
      [`{"books":[]}`, 0],
      [book, 1],
      [`${book}\n${book}\n`, 2],
      [book.replaceAll(',', ',\n'), 1],
      [`${book.replaceAll(',', ',\n')}\n${book.replaceAll(',', ',\n')}`, 2],
      [`[{"volumeInfo":${book}},{"volumeInfo":${book}}]`, 2],
      [`{"data":{"books":{"edges":[{"node":${book}}]}}}`, 1],
      [`{"log":[{"work":${book},"date":"2021-01-01"}]}`, 1],
    ] as const) {
      for (const chunk of [1, 65_536]) {
        const rows = (await read('json', file, { chunk })).map((row) => ('book' in row ? row.book : row));
        const expected = Array.from({ length: count }, () => ({ title: 'A', author: 'a', year: 1 }));
        assert.deepEqual(rows, expected, file);
      }
    }
    assert.equal((await read('json', String.raw`{"\x":1,"data":[{"title":"A"}]}`)).length, 1);
    assert.equal((await read('json', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`)).length, 1);
    const large = `{"status":200,"data":[${Array.from({ length: 50_000 }, () => book).join(',\n')}],"x":1}`;
    assert.equal((await read('json', large)).filter((row) => 'book' in row).length, 50_000);
    const keyed = `{${Array.from({ length: 50_000 }, (_, index) => `"${index}":${book}`).join(',\n')}}`;
    assert.equal((await read('json', keyed)).filter((row) => 'book' in row).length, 50_000);
    for (const more of [
      `{"read":[${book}],"x":{},"wanted":[${book}]}`,
      `{"a":{"books":[${book}]},"b":{"books":[${book}]}}`,
    ]) {
      for (const chunk of [1, 65_536]) {
        const rows = await outline('json', more, { chunk });
        assert.deepEqual(rows, ['1/1: A|a|1', '1/2: there is text after the array; it was not read'], more);
      }
    }
    assert.match(
      (await outline('json', `{"data":[${book},`)).at(-1) ?? '',
      /^1\/2: the file ends within its array$/,
    );
    assert.match(
      (await outline('json', `{"1":${book},"2":${book}`)).at(-1) ?? '',
      /^1\/3: the file ends within its array$/,
    );
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
    '': '1/1: a JSON array or object must begin here; the rest was not read',
    title: '1/1: a JSON array or object must begin here; the rest was not read',
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
    const broken = Buffer.concat([Buffer.from('{"title":"é"}\n'), Buffer.from('{"title":"\xe9"}', 'latin1')]);
    assert.deepEqual(await outline('ndjson', broken), [
      '1: é||0',
      '2: it is not UTF-8, unlike the rest of the file',
    ]);
  });
});

test('A file of any format may be UTF-8 or UTF-16 with or without a byte-order mark, or Windows-1252', async () => {
  const files = {
    csv: 'title\nÄ – „süß“ 😀\n',
    json: '[{"title":"Ä – „süß“ 😀"}]',
    ndjson: '{"title":"Ä – „süß“ 😀"}\n',
  };
  for (const [format, text] of Object.entries(files)) {
    const little = Buffer.from(`\ufeff${text}`, 'utf16le');
    const variants = [
      Buffer.from(text),
      Buffer.from(`\ufeff${text}`),
      little,
      Buffer.from(little).swap16(),
      little.subarray(2),
      Buffer.from(little.subarray(2)).swap16(),
    ];
    for (const [index, bytes] of variants.entries()) {
      for (const chunk of [1, 65_536]) {
        const [row] = await read(format as Format, bytes, { chunk });
        assert.ok(row && 'book' in row && row.book.title === 'Ä – „süß“ 😀', `${format} ${index} ${chunk}`);
      }
    }
    const western = Buffer.from(text.replace(/[–„“😀]/gu, ''), 'latin1');
    for (const chunk of [1, 65_536]) {
      const [row] = await read(format as Format, western, { chunk });
      assert.ok(
        row && 'book' in row && row.book.title.includes('Ä') && row.book.title.includes('süß'),
        format,
      );
    }
  }
  const header = Buffer.from('T\xedtulo;Autor;A\xf1o\nEl \x93Quijote\x94;Cervantes;1605\n', 'latin1');
  const { columns, encoding } = await openRows(chunksOf(header));
  assert.deepEqual([columns, encoding], [['Título', 'Autor', 'Año'], 'windows-1252']);
  assert.deepEqual(await outline('csv', header), ['2: El “Quijote”|Cervantes|1605']);
});

test('A text that can be neither UTF-8 nor Windows-1252 is rejected', async () => {
  for (const [encoding, hex] of [
    ['Shift-JIS', '967b82cc8f57'],
    ['GBK', 'baecc2a5c3ce'],
    ['Big5', 'ace2bcd3b9da'],
    ['EUC-KR', 'c3a5c0bbc0d0b4c2'],
    ['Windows-1251', 'c2eee9ede020e820ece8f0'],
    ['KOI8-R', 'f7cfcad3c1'],
    ['Windows-1253', 'cfe4fdf3f3e5e9e1'],
    ['Windows-1255', 'f1f4f8e9ed'],
    ['Mac OS Roman', '4c658d6f6e2c2061707072658e'],
  ] as const) {
    const file = Buffer.concat([
      Buffer.from('title,author,year\n'),
      Buffer.from(hex, 'hex'),
      Buffer.from(',a,1\n'),
    ]);
    await assert.rejects(
      openRows(chunksOf(file)),
      (error) => error instanceof ForeignFileError && error.kind === 'encoding',
      encoding,
    );
  }
  for (const [title, bytes] of [
    ['«Ça ira»', '\xab\xc7a ira\xbb'],
    ['¿Qué? … ——', '\xbfQu\xe9? \x85 \x97\x97'],
    ['Größe', 'Gr\xf6\xdfe'],
    ['ÜÖ', '\xdc\xd6'],
  ] as const) {
    const file = Buffer.from(`title,author,year\n${bytes},a,1\n`, 'latin1');
    assert.deepEqual(await outline('csv', file), [`2: ${title}|a|1`]);
  }
  const odd = Buffer.concat([Buffer.from('title,author,year\nÉ,a,1\n', 'utf16le'), Buffer.from('\n')]);
  assert.deepEqual(await outline('csv', odd), ['2: É|a|1', '3: it has 1 value, and the first line 3']);
});

test('A file is Windows-1252 by its first letters beyond ASCII, wherever they are; a broken letter in UTF-8 is a bad row', async () => {
  const ascii = 'A,a,1\n'.repeat(50_000);
  const western = Buffer.concat([
    Buffer.from(`title,author,year\n${ascii}`),
    Buffer.from('B,\xe9,2\n', 'latin1'),
  ]);
  assert.equal((await outline('csv', western)).at(-1), '50002: B|é|2');
  const broken = Buffer.concat([
    Buffer.from('title,author,year\n'),
    Buffer.from('B,\xe9,2\n', 'latin1'),
    Buffer.from('C,é,3\nD,ö,4\n'),
  ]);
  for (const chunk of [1, 65_536]) {
    assert.deepEqual(await outline('csv', broken, { chunk }), [
      '2: it is not UTF-8, unlike the rest of the file',
      '3: C|é|3',
      '4: D|ö|4',
    ]);
  }
});

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
