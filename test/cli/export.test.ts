import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ID_MAX, YEAR_MAX } from '../../src/book/book.ts';
import type { Book } from '../../src/book/contract.ts';
import { runCommand, startCommand, withoutProgress } from '../../testkit/command.ts';
import { engines } from '../../testkit/engines.ts';
import { createFolder } from '../../testkit/folder.ts';
import { SPECIAL_TEXTS } from '../store/texts.ts';
import { booksAt, putBooks } from './books.ts';

const CELL_TEXTS = [
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

const BOOKS: readonly Book[] = CELL_TEXTS.map((text, index) => ({
  id: index === 0 ? ID_MAX - 1 : index * 3,
  title: text,
  author: CELL_TEXTS[CELL_TEXTS.length - 1 - index] ?? '',
  year: [YEAR_MAX, -YEAR_MAX, 0, -750][index % 4] ?? 0,
})).toSorted((one, other) => one.id - other.id);

/** The files that are written on each engine: all of SQLite, and one of PostgreSQL. */
const FILES = { SQLite: ['books.csv', 'books.json', 'books.ndjson'], PostgreSQL: ['books.ndjson'] };

for (const [index, engine] of engines.entries()) {
  const other = engines[1 - index] ?? engine;
  describe(`bookkeeping export on ${engine.name}`, () => {
    test(`writes files, which an import into ${other.name} restores with ids`, async () => {
      await using folder = await createFolder();
      await using source = await engine.createAddress();
      await writeFile(join(folder.path, 'first.json'), JSON.stringify(BOOKS));
      const first = await runCommand(['import', 'first.json', '--keep-ids'], {
        folder: folder.path,
        variables: { DB_URL: source.dbUrl },
      });
      assert.equal(first.code, 0, first.stderr);
      const files = FILES[engine.name];
      for (const file of files) {
        await using target = await other.createAddress();
        const exported = await runCommand(['export', file], {
          folder: folder.path,
          variables: { DB_URL: source.dbUrl },
        });
        assert.deepEqual(exported, { code: 0, stdout: `wrote ${BOOKS.length} books\n`, stderr: '' });
        const imported = await runCommand(['import', file, '--keep-ids'], {
          folder: folder.path,
          variables: { DB_URL: target.dbUrl },
        });
        assert.deepEqual([imported.code, imported.stderr], [0, '']);
        assert.deepEqual(await booksAt(target.dbUrl), BOOKS, file);
      }
      assert.deepEqual((await readdir(folder.path)).toSorted(), [...files, 'first.json'].toSorted());
    });
  });
}

describe('bookkeeping export', () => {
  test('writes to standard output, CSV by default', async () => {
    await using folder = await createFolder();
    const dbUrl = `sqlite:${join(folder.path, 'books.db')}`;
    const options = { folder: folder.path, variables: { DB_URL: dbUrl } };
    await putBooks(dbUrl, [
      { title: 'The Iliad', author: 'Homer', year: -750 },
      { title: 'A "B",\n', author: ' c', year: 0 },
    ]);
    const written = {
      csv: 'id,title,author,year\r\n1,The Iliad,Homer,-750\r\n2,"A ""B"",\n"," c",0\r\n',
      json: '[\n{"id":1,"title":"The Iliad","author":"Homer","year":-750},\n{"id":2,"title":"A \\"B\\",\\n","author":" c","year":0}\n]\n',
      ndjson:
        '{"id":1,"title":"The Iliad","author":"Homer","year":-750}\n{"id":2,"title":"A \\"B\\",\\n","author":" c","year":0}\n',
    };
    for (const [format, stdout] of Object.entries(written)) {
      assert.deepEqual(await runCommand(['export', '--format', format], options), {
        code: 0,
        stdout,
        stderr: '',
      });
    }
    assert.equal((await runCommand(['export'], options)).stdout, written.csv);
  });

  test('replaces a file atomically, or leaves it unchanged', async () => {
    await using folder = await createFolder();
    await writeFile(join(folder.path, 'books.csv'), 'before');
    const variables = { DB_URL: 'sqlite:books.db' };
    const failed = await runCommand(['export', 'books.csv'], { folder: folder.path, variables });
    assert.deepEqual(failed, {
      code: 1,
      stdout: '',
      stderr: 'bookkeeping: the SQLite file books.db does not exist\n',
    });
    assert.equal(await readFile(join(folder.path, 'books.csv'), 'utf8'), 'before');
    assert.deepEqual(await readdir(folder.path), ['books.csv']);

    await putBooks(`sqlite:${join(folder.path, 'books.db')}`, []);
    assert.equal((await runCommand(['export', 'books.csv'], { folder: folder.path, variables })).code, 0);
    assert.equal(await readFile(join(folder.path, 'books.csv'), 'utf8'), 'id,title,author,year\r\n');
    const nowhere = await runCommand(['export', 'nowhere/books.csv'], { folder: folder.path, variables });
    assert.deepEqual(
      [nowhere.code, nowhere.stderr],
      [1, 'bookkeeping: nowhere/books.csv cannot be written (ENOENT)\n'],
    );
  });

  test('exits with 141, without a message, when its reader closes the pipe', async () => {
    await using folder = await createFolder();
    const dbUrl = `sqlite:${join(folder.path, 'books.db')}`;
    await putBooks(
      dbUrl,
      Array.from({ length: 20_000 }, (_, year) => ({ title: 'A book', author: 'by an author', year })),
    );
    const child = startCommand(['export'], { folder: folder.path, variables: { DB_URL: dbUrl } });
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdout?.once('data', () => child.stdout?.destroy());
    const [code] = await once(child, 'close');
    assert.deepEqual([code, withoutProgress(stderr)], [141, '']);
  });

  test('writes a valid file for an empty store', async () => {
    await using folder = await createFolder();
    await using address = await engines[0]?.createAddress();
    assert.ok(address);
    const options = { folder: folder.path, variables: { DB_URL: address.dbUrl } };
    await putBooks(address.dbUrl, []);
    for (const [format, stdout] of Object.entries({
      csv: 'id,title,author,year\r\n',
      json: '[\n]\n',
      ndjson: '',
    })) {
      const { code, ...ending } = await runCommand(['export', '--format', format], options);
      assert.deepEqual([code, ending.stdout], [0, stdout]);
      const taken = await runCommand(['import', '-', '--format', format], {
        ...options,
        input: stdout,
      });
      assert.deepEqual([taken.code, taken.stderr], [0, '']);
    }
  });
});
