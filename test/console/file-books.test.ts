import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { batchesOf } from '../../console/src/files/batches.ts';
import { type BookFault, readBookRow } from '../../console/src/files/book-row.ts';
import { checkFile, type Finding, readBooks } from '../../console/src/files/check.ts';
import { guessMapping } from '../../console/src/files/mapping.ts';
import { openRowFile } from '../../console/src/files/row-file.ts';
import { guessByCells, looksLikeBook } from '../../console/src/files/sample.ts';
import { readBook } from '../../src/book.ts';

const MAPPING = { title: 'title', author: 'author', year: 'year' };

describe('The columns of a file', () => {
  test('are guessed by their names, in several languages', () => {
    for (const [columns, mapping] of [
      ['id,title,author,year', ['title', 'author', 'year']],
      ['Titel;Autor;Jahr', ['Titel', 'Autor', 'Jahr']],
      ['YEAR;Author(s);Book Title', ['Book Title', 'Author(s)', 'YEAR']],
      ['Título;Autor;Año', ['Título', 'Autor', 'Año']],
      ['titre;auteur;année', ['titre', 'auteur', 'année']],
      [
        'authors,original_publication_year,original_title,title',
        ['title', 'authors', 'original_publication_year'],
      ],
      [
        'book_id,original_title,Verfasser,Erscheinungsjahr',
        ['original_title', 'Verfasser', 'Erscheinungsjahr'],
      ],
      ['isbn,pages', [undefined, undefined, undefined]],
    ] as const) {
      const [title, author, year] = mapping;
      assert.deepEqual(guessMapping(columns.split(/[,;]/)), { title, author, year }, columns);
    }
  });
});

describe('A file without a header', () => {
  test('is known by a number among what would be names', () => {
    assert.ok(looksLikeBook(['Emma', 'Jane Austen', '1815']));
    assert.ok(looksLikeBook(['1', '2']));
    assert.ok(!looksLikeBook(['Titel', '2']));
    assert.ok(!looksLikeBook(['Nom', 'Quand']));
  });

  test('has its columns guessed by their cells', () => {
    const columns = ['#1', '#2', '#3', '#4'];
    const rows = [
      { line: 1, columns, cells: ['1815.0', '1984', 'George Orwell', '1949'] },
      { line: 2, columns, cells: ['A1', 'Emma', 'Jane Austen', '1815.0'] },
    ];
    assert.deepEqual(guessByCells({ columns, rows }), { title: '#1', author: '#2', year: '#4' });
  });
});

describe('A row of CSV', () => {
  test('has its year as a text', () => {
    for (const [text, year] of [
      ['1815', 1815],
      ['1999.0', 1999],
      ['-750.0', -750],
      ['1.999e3', 1999],
      [' 1815 ', 1815],
      ['0800', 800],
      ['', 0],
      [' ', 0],
      ['-0', 0],
      ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ] as const) {
      assert.deepEqual(readCsv(text), { title: 'Emma', author: '', year }, text);
    }
  });

  test('is no book where that is no whole number, or too large', () => {
    for (const [value, kind] of [
      ['19.5', 'not-whole'],
      ['c. 1815', 'not-whole'],
      ['0x10', 'not-whole'],
      ['Infinity', 'not-whole'],
      ['1815-01-01', 'not-whole'],
      ['9007199254740992', 'too-large'],
      ['1e400', 'too-large'],
    ] as const) {
      assert.deepEqual(readCsv(value), { kind, value });
    }
  });

  test('is no book where nothing is in any of its columns', () => {
    assert.deepEqual(readCsv('', ''), { kind: 'nothing' });
    assert.deepEqual(readCsv('0', ''), { title: '', author: '', year: 0 });
  });

  test('loses the apostrophe that marks a text which would be a formula', () => {
    assert.deepEqual(readCsv('1', "'=1+1"), { title: '=1+1', author: '', year: 1 });
    assert.deepEqual(readCsv('1', "'tis"), { title: "'tis", author: '', year: 1 });
  });
});

describe('A row of JSON', () => {
  test('is a book when the service would take it as one', () => {
    const texts = [
      '',
      ' ',
      'Emma',
      '\0',
      'a\0',
      '\ud800',
      '\udc00\ud800',
      '😀',
      "'=1",
      null,
      1,
      true,
      [],
      {},
    ];
    const years = [0, -750, 1999, 19.5, 2 ** 53, -(2 ** 53) + 1, null, '1999', '', true, [1]];
    const fields = [
      ...texts.flatMap((text) => [{ title: text }, { Author: text }]),
      ...years.map((year) => ({ YEAR: year })),
      { other: null },
      { title: 'x'.repeat(1_048_576) },
    ];
    for (const object of fields) {
      const body = Buffer.from(JSON.stringify(object));
      const accepted = body.length > 1_048_576 ? undefined : readBook(body);
      const result = readJson(object);
      const isEmpty = Object.values(object).every((value) => value === '' || value === null);
      if (accepted && !isEmpty) assert.deepEqual(result, accepted);
      else assert.ok('kind' in result, JSON.stringify(object).slice(0, 50));
    }
  });

  test('is told what is wrong with it', () => {
    for (const [object, fault] of [
      [{ title: 1 }, { kind: 'not-text', field: 'title' }],
      [{ author: null }, { kind: 'not-text', field: 'author' }],
      [{ year: '1999' }, { kind: 'not-number', value: '1999' }],
      [{ year: { a: 1 } }, { kind: 'not-number', value: '{"a":1}' }],
      [{ year: 19.5 }, { kind: 'not-whole', value: '19.5' }],
      [{ title: 'a\0b' }, { kind: 'null-character', field: 'title' }],
      [{ author: '\udc00' }, { kind: 'lone-surrogate', field: 'author' }],
      [{ title: 'ä'.repeat(600_000) }, { kind: 'too-long' }],
    ] as [object, BookFault][]) {
      assert.deepEqual(readJson(object), fault);
    }
  });
});

test('A file is checked row by row, and the check can be ended', async () => {
  const rows = Array.from(
    { length: 30_000 },
    (_, n) => `Book ${n},Somebody,${n % 100 === 7 ? 'unknown' : n}`,
  );
  const file = await openRowFile(new File(['title,author,year\n', rows.join('\n')], 'b.csv'), 'csv');
  let part = 0;
  const check = await checkFile(file, MAPPING, new AbortController().signal, (done) => {
    assert.ok(done > part && done <= 1);
    part = done;
  });
  assert.equal(part, 1);
  assert.deepEqual([check.good, check.bad, check.faults.length], [29_700, 300, 100]);
  assert.deepEqual(check.faults[1], { line: 109, fault: { kind: 'not-whole', value: 'unknown' } });

  const abortion = new AbortController();
  await assert.rejects(
    checkFile(file, MAPPING, abortion.signal, () => abortion.abort(new Error('enough'))),
    /enough/,
  );
});

describe('Batches', () => {
  test('hold the good rows in their order, up to 1,000 books and 300,000 characters', async () => {
    const title = 'x'.repeat(120_000);
    const rows = [
      ...Array.from({ length: 2_001 }, (_, n) => ({ title: String(n) })),
      { title: 5 },
      ...Array.from({ length: 3 }, () => ({ title })),
    ];
    const file = await openRowFile(
      new File([rows.map((row) => JSON.stringify(row)).join('\n')], 'b'),
      'ndjson',
    );
    const sizes: number[][] = [];
    for await (const { books, firstLine, lastLine } of batchesOf(readBooks(file, MAPPING), 0)) {
      sizes.push([books.length, firstLine, lastLine]);
    }
    assert.deepEqual(sizes, [
      [1_000, 1, 1_000],
      [1_000, 1_001, 2_000],
      [3, 2_001, 2_004],
      [1, 2_005, 2_005],
    ]);
  });

  test('leave out what has been stored before', async () => {
    const years: number[] = [];
    for await (const { books } of batchesOf(findings(), 2)) years.push(...books.map(({ year }) => year));
    assert.deepEqual(years, [4, 5]);
  });
});

function readCsv(year: string, title = 'Emma') {
  const columns = ['title', 'author', 'year'];
  return readBookRow({ line: 2, columns, cells: [title, '', year] }, MAPPING, true);
}

function readJson(object: object) {
  return readBookRow({ line: 2, columns: Object.keys(object), cells: Object.values(object) }, MAPPING, false);
}

async function* findings(): AsyncGenerator<Finding> {
  for (let line = 1; line <= 5; line++) {
    if (line === 2) yield { line, fault: { kind: 'too-long' }, row: { line, columns: [], cells: [] } };
    else yield { line, book: { title: '', author: '', year: line } };
  }
}
