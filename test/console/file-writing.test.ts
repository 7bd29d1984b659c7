import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Fault } from '../../console/src/files/book-row.ts';
import { writeBooks } from '../../console/src/files/book-text.ts';
import { readBooks } from '../../console/src/files/check.ts';
import { csvRecord } from '../../console/src/files/csv-text.ts';
import { FORMATS, type Format } from '../../console/src/files/formats.ts';
import { PaceMeter } from '../../console/src/files/pace.ts';
import { reportOf } from '../../console/src/files/report.ts';
import { openRowFile } from '../../console/src/files/row-file.ts';
import type { Book } from '../../src/client/index.ts';

const MAPPING = { title: 'title', author: 'author', year: 'year' };

const TEXTS = [
  'Emma',
  '',
  ' two  spaces ',
  'a "quoted", text; with\ttabs',
  'lines\r\nand\nlines\r',
  '=HYPERLINK("http://x")',
  "'=1",
  "''+1",
  "'tis",
  '-30-',
  '@me',
  '+',
  '\tx',
  '\rx',
  '😀\u2028\uFEFF',
  '\uFEFFx',
  '#1',
  '"',
];
const BOOKS: readonly Book[] = TEXTS.map((text, index) => ({
  id: index + 1,
  title: text,
  author: TEXTS.at(-index) ?? '',
  year: [0, -750, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER][index % 4] ?? 0,
}));

describe('Books that are exported', () => {
  for (const format of FORMATS) {
    test(`and imported again as ${format} are the same`, async () => {
      for (const books of [BOOKS, []]) {
        const text = await textOf(writeBooks(pagesOf(books), format));
        const read: unknown[] = [];
        const file = await openRowFile(new File([text], 'b'), format);
        for await (const finding of readBooks(file, MAPPING))
          read.push('book' in finding ? finding.book : finding.fault);
        assert.deepEqual(
          read,
          books.map(({ title, author, year }) => ({ title, author, year })),
        );
      }
    });
  }

  test('are valid in each format', async () => {
    const books = [
      { id: 1, title: 'Emma', author: 'Austen, Jane', year: 1815 },
      { id: 2, title: '', author: '=1', year: -750 },
    ];
    const text = async (format: Format) => await textOf(writeBooks(pagesOf(books), format));
    assert.deepEqual(JSON.parse(await text('json')), books);
    assert.equal(await text('ndjson'), books.map((book) => `${JSON.stringify(book)}\n`).join(''));
    const records = ['id,title,author,year', '1,Emma,"Austen, Jane",1815', "2,,'=1,-750", ''];
    assert.equal(await text('csv'), `\uFEFF${records.join('\r\n')}`);
  });
});

test('A cell of CSV is no formula, and numbers stay numbers', () => {
  assert.equal(csvRecord(['=1', '+1', '-1', '@a', "'=1", -1, '\t=1']), `'=1,'+1,'-1,'@a,''=1,-1,"'\t=1"\r\n`);
});

describe('A report of bad rows', () => {
  const texts = { line: 'line', reason: 'reason', row: 'row', explain: ({ kind }: Fault) => `=${kind}` };
  const report = async (text: string, format: Format) => {
    const file = await openRowFile(new File([text], 'b'), format);
    return await textOf(reportOf(file, ['title', 'year'], MAPPING, texts));
  };

  test('has the rows of CSV with their columns, so that they can be mended and imported', async () => {
    assert.equal(
      await report('title,year\nEmma,1815\n"-, x",about 1815\nEmma\n', 'csv'),
      "\uFEFFline,reason,title,year\r\n3,'=not-whole,\"'-, x\",about 1815\r\n4,'=cells,Emma\r\n",
    );
  });

  test('has those of JSON as JSON', async () => {
    assert.equal(
      await report('{"title":"Emma"}\n{"title":null}\nx\n', 'ndjson'),
      '\uFEFFline,reason,row\r\n2,\'=not-text,"{""title"":null}"\r\n3,\'=not-json,x\r\n',
    );
  });
});

test('Pace is that of the last seconds, and unknown where nothing gets on', () => {
  const meter = new PaceMeter();
  assert.equal(meter.note(0, 1_000, 0), undefined);
  assert.deepEqual(meter.note(100, 1_000, 1_000), { perSecond: 100, secondsLeft: 9 });
  for (let at = 2_000; at <= 8_000; at += 1_000) meter.note(100, 1_000, at);
  assert.equal(meter.note(100, 1_000, 9_000), undefined);
  assert.deepEqual(meter.note(600, 1_000, 10_000), { perSecond: 100, secondsLeft: 4 });
});

async function* pagesOf(books: readonly Book[]): AsyncGenerator<readonly Book[]> {
  for (let at = 0; at < books.length; at += 5) yield books.slice(at, at + 5);
  yield [];
}

async function textOf(parts: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const part of parts) text += part;
  return text;
}
