import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Book } from '../../src/book/book.ts';
import { ID_MAX, YEAR_MAX } from '../../src/book/book.ts';
import { SPECIAL_TEXTS } from '../store/texts.ts';
import { engines } from '../support/engines.ts';
import { createFolder } from '../support/folder.ts';
import { booksAt, putBooks } from './books.ts';
import { runCommand, startCommand } from './command.ts';

const NASTY = [
  ...Object.values(SPECIAL_TEXTS),
  '=1+1',
  '@SUM(A1)',
  '-',
  ' ',
  '"',
  ',',
  '\r',
  '\n',
  '\r\n',
  'a"b',
  "it's; so",
];

const BOOKS: readonly Book[] = NASTY.map((text, index) => ({
  id: index === 0 ? ID_MAX - 1 : index * 3,
  title: text,
  author: NASTY[NASTY.length - 1 - index] ?? '',
  year: [YEAR_MAX, -YEAR_MAX, 0, -750][index % 4] ?? 0,
})).toSorted((one, other) => one.id - other.id);

const FILES = ['books.csv', 'books.json', 'books.ndjson'];

for (const [index, engine] of engines.entries()) {
  const other = engines[1 - index] ?? engine;
  describe(`bookkeeping export on ${engine.name}`, () => {
    test(`writes what import takes into ${other.name}: equal, ids too, in every format`, async () => {
      await using folder = await createFolder();
      await using source = await engine.createAddress();
      await writeFile(join(folder.path, 'first.json'), JSON.stringify(BOOKS));
      const first = await runCommand(['import', 'first.json', '--keep-ids'], {
        folder: folder.path,
        variables: { DB_URL: source.dbUrl },
      });
      assert.equal(first.code, 0, first.complaints);
      for (const file of FILES) {
        await using target = await other.createAddress();
        const exported = await runCommand(['export', file], {
          folder: folder.path,
          variables: { DB_URL: source.dbUrl },
        });
        assert.deepEqual(exported, { code: 0, output: `wrote ${BOOKS.length} books\n`, complaints: '' });
        const imported = await runCommand(['import', file, '--keep-ids'], {
          folder: folder.path,
          variables: { DB_URL: target.dbUrl },
        });
        assert.deepEqual([imported.code, imported.complaints], [0, '']);
        assert.deepEqual(await booksAt(target.dbUrl), BOOKS, file);
      }
      assert.deepEqual((await readdir(folder.path)).toSorted(), [...FILES, 'first.json'].toSorted());
    });

    test('writes the same to standard output, CSV where nothing else is said', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      const circumstances = { folder: folder.path, variables: { DB_URL: address.dbUrl } };
      await putBooks(address.dbUrl, [
        { title: 'The Iliad', author: 'Homer', year: -750 },
        { title: 'A "B",\n', author: ' c', year: 0 },
      ]);
      const written = {
        csv: 'id,title,author,year\r\n1,The Iliad,Homer,-750\r\n2,"A ""B"",\n"," c",0\r\n',
        json: '[\n{"id":1,"title":"The Iliad","author":"Homer","year":-750},\n{"id":2,"title":"A \\"B\\",\\n","author":" c","year":0}\n]\n',
        ndjson:
          '{"id":1,"title":"The Iliad","author":"Homer","year":-750}\n{"id":2,"title":"A \\"B\\",\\n","author":" c","year":0}\n',
      };
      for (const [format, output] of Object.entries(written)) {
        assert.deepEqual(await runCommand(['export', '--format', format], circumstances), {
          code: 0,
          output,
          complaints: '',
        });
      }
      assert.equal((await runCommand(['export'], circumstances)).output, written.csv);
    });
  });
}

describe('bookkeeping export', () => {
  test('replaces a file at once, or leaves it as it was', async () => {
    await using folder = await createFolder();
    await writeFile(join(folder.path, 'books.csv'), 'before');
    const variables = { DB_URL: 'sqlite:books.db' };
    const failed = await runCommand(['export', 'books.csv'], { folder: folder.path, variables });
    assert.deepEqual(failed, {
      code: 1,
      output: '',
      complaints: 'bookkeeping: the SQLite file books.db does not exist\n',
    });
    assert.equal(await readFile(join(folder.path, 'books.csv'), 'utf8'), 'before');
    assert.deepEqual(await readdir(folder.path), ['books.csv']);

    await putBooks(`sqlite:${join(folder.path, 'books.db')}`, []);
    assert.equal((await runCommand(['export', 'books.csv'], { folder: folder.path, variables })).code, 0);
    assert.equal(await readFile(join(folder.path, 'books.csv'), 'utf8'), 'id,title,author,year\r\n');
    const nowhere = await runCommand(['export', 'nowhere/books.csv'], { folder: folder.path, variables });
    assert.deepEqual(
      [nowhere.code, nowhere.complaints],
      [1, 'bookkeeping: nowhere/books.csv cannot be written (ENOENT)\n'],
    );
  });

  test('ends without a word when its reader has enough', async () => {
    await using folder = await createFolder();
    const dbUrl = `sqlite:${join(folder.path, 'books.db')}`;
    await putBooks(
      dbUrl,
      Array.from({ length: 20_000 }, (_, year) => ({ title: 'A book', author: 'by somebody', year })),
    );
    const child = startCommand(['export'], { folder: folder.path, variables: { DB_URL: dbUrl } });
    let complaints = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaints += text;
    });
    child.stdout?.once('data', () => child.stdout?.destroy());
    const [code] = await once(child, 'close');
    assert.deepEqual([code, complaints], [141, '']);
  });

  test('writes that there are no books', async () => {
    await using folder = await createFolder();
    await using address = await engines[0]?.createAddress();
    assert.ok(address);
    const circumstances = { folder: folder.path, variables: { DB_URL: address.dbUrl } };
    await putBooks(address.dbUrl, []);
    for (const [format, output] of Object.entries({
      csv: 'id,title,author,year\r\n',
      json: '[\n]\n',
      ndjson: '',
    })) {
      const { code, ...ending } = await runCommand(['export', '--format', format], circumstances);
      assert.deepEqual([code, ending.output], [0, output]);
      const taken = await runCommand(['import', '-', '--format', format], {
        ...circumstances,
        input: output,
      });
      assert.deepEqual([taken.code, taken.complaints], [0, '']);
    }
  });
});
