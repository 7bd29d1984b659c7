import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { engines } from '../support/engines.ts';
import { createFolder } from '../support/folder.ts';
import { createDatabase } from '../support/postgres.ts';
import { openStoreAt } from '../support/stores.ts';
import { booksAt, tallyOf } from './books.ts';
import { runCommand } from './command.ts';

const ILIAD = { title: 'The Iliad', author: 'Homer', year: -750 };
const ODYSSEY = { title: 'The Odyssey', author: 'Homer', year: -720 };

for (const engine of engines) {
  describe(`bookkeeping import on ${engine.name}`, { concurrency: 2 }, () => {
    test('stores the rows of a file, with columns of other names, and sums up', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      await writeFile(
        join(folder.path, 'list.CSV'),
        '\ufeffn,original_title,authors,original_publication_year\r\n9,The Iliad,Homer,-750.0\r\n8,"The ""Odyssey""\r\n2","Homer, and others",\r\n',
      );
      const map = 'title=original_title,author=authors,year=original_publication_year';
      const variables = { DB_URL: address.dbUrl, NODE_ENV: 'production' };
      const args = ['import', 'list.CSV', '--map', map];
      const { code, output, complaints } = await runCommand(args, { folder: folder.path, variables });
      assert.match(output, /^read 2, stored 2, skipped 0, bad 0, in [0-9.]+ s, [0-9]+ rows\/s\n$/);
      assert.deepEqual([code, complaints], [0, '']);
      assert.deepEqual(await booksAt(address.dbUrl), [
        { id: 1, ...ILIAD },
        { id: 2, title: 'The "Odyssey"\r\n2', author: 'Homer, and others', year: 0 },
      ]);
    });

    test('goes on past bad rows, tells each with its line, and ends with 1', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      const variables = { DB_URL: address.dbUrl };
      const input = '[{"title":"A"},\n{"title":1},\n{"title":"B"}]';
      const some = await runCommand(['import', '-', '--format', 'json'], {
        folder: folder.path,
        variables,
        input,
      });
      assert.equal(some.complaints, 'line 2: title is not a text of well-formed Unicode without U+0000\n');
      assert.deepEqual(tallyOf(some.output), { read: 3, stored: 2, skipped: 0, bad: 1 });
      assert.equal(some.code, 1);

      const many = await runCommand(['import', '-'], {
        folder: folder.path,
        variables,
        input: `title,year\n${'X,x\n'.repeat(250)}C,1\n`,
      });
      assert.equal(many.complaints.split('\n').length, 101);
      assert.match(many.output, /^read 251, stored 1, skipped 0, bad 250 \(150 of them not shown\), /);
      assert.deepEqual(
        (await booksAt(address.dbUrl)).map(({ title }) => title),
        ['A', 'B', 'C'],
      );
    });

    test('with --strict stores nothing when a row is bad, and all when none is', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      const variables = { DB_URL: address.dbUrl };
      const good = Array.from({ length: 5_000 }, (_, index) => `Book ${index},,${index}\n`).join('');
      const args = ['import', '--strict', '-'];
      const bad = { folder: folder.path, variables, input: `title,author,year\n${good}Bad,,x\nBad,,x\n` };
      const refused = await runCommand(args, bad);
      assert.match(refused.complaints, /^line 5002: year is not [^\n]+\n$/);
      assert.match(refused.output, /^read 5001, stored 0, skipped 0, bad 1, /);
      assert.equal(refused.code, 1);
      assert.deepEqual(await booksAt(address.dbUrl), []);

      const taken = await runCommand(args, { ...bad, input: `title,author,year\n${good}` });
      assert.deepEqual([taken.code, tallyOf(taken.output).stored], [0, 5_000]);
      assert.equal((await booksAt(address.dbUrl)).length, 5_000);
    });

    test('with --skip-existing leaves out what is there, or came before', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      const variables = { DB_URL: address.dbUrl };
      {
        await using store = await openStoreAt(address.dbUrl);
        for (const fields of [ILIAD, ILIAD]) await store.create(fields);
      }
      const lines = [ILIAD, ODYSSEY, ODYSSEY, { ...ILIAD, year: -751 }, { ...ILIAD, author: 'homer' }];
      const input = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      const args = ['import', '-', '--format=ndjson', '--skip-existing'];
      const first = await runCommand(args, { folder: folder.path, variables, input });
      assert.deepEqual([first.code, tallyOf(first.output)], [0, { read: 5, stored: 3, skipped: 2, bad: 0 }]);
      const second = await runCommand(args, { folder: folder.path, variables, input });
      assert.deepEqual(
        [second.code, tallyOf(second.output)],
        [0, { read: 5, stored: 0, skipped: 5, bad: 0 }],
      );
      assert.equal((await booksAt(address.dbUrl)).length, 5);
    });

    test('with --keep-ids keeps them, never overwrites a book, and new ids come after the highest', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      const variables = { DB_URL: address.dbUrl };
      const input = 'id,title,author,year\n70,The Iliad,Homer,-750\n7,The Odyssey,Homer,-720\n';
      const args = ['import', '-', '--keep-ids'];
      assert.equal((await runCommand(args, { folder: folder.path, variables, input })).code, 0);
      const again = await runCommand(args, {
        folder: folder.path,
        variables,
        input: `${input}70,Another,,0\n,Without,,0\n8,New,,0\n`,
      });
      assert.equal(
        again.complaints,
        "line 5: id is not a whole number from 1 to 9007199254740991\nline 4: the id 70 is another book's\n",
      );
      assert.deepEqual([again.code, tallyOf(again.output)], [1, { read: 5, stored: 1, skipped: 2, bad: 2 }]);
      await using store = await openStoreAt(address.dbUrl);
      assert.equal((await store.create(ILIAD)).id, 71);
      assert.deepEqual(
        (await booksAt(address.dbUrl)).map(({ id }) => id),
        [7, 8, 70, 71],
      );
    });

    test("with --keep-ids and --strict stores nothing when an id is another book's", async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      const variables = { DB_URL: address.dbUrl };
      {
        await using store = await openStoreAt(address.dbUrl);
        await store.create(ILIAD);
      }
      const input = 'id,title\n5,New\n1,Another\n6,New\n';
      const { code, output } = await runCommand(['import', '-', '--keep-ids', '--strict'], {
        folder: folder.path,
        variables,
        input,
      });
      assert.deepEqual([code, tallyOf(output)], [1, { read: 3, stored: 0, skipped: 0, bad: 1 }]);
      assert.deepEqual(await booksAt(address.dbUrl), [{ id: 1, ...ILIAD }]);
    });
  });
}

describe('bookkeeping import', { concurrency: 2 }, () => {
  test('fails with one line on files that cannot be read, and on a store that cannot be reached', async () => {
    await using folder = await createFolder();
    await mkdir(join(folder.path, 'folder.csv'));
    await writeFile(join(folder.path, 'empty.csv'), '');
    await writeFile(join(folder.path, 'wide.csv'), '\ufefftitle\nA\n', 'utf16le');
    await writeFile(join(folder.path, 'other.csv'), 'a;b\n1;2\n');
    await writeFile(join(folder.path, 'good.csv'), 'title\nA\n');
    const CASES: Record<
      string,
      [args: readonly string[], complaint: RegExp, variables?: Record<string, string>]
    > = {
      missing: [['missing.csv'], /missing\.csv cannot be read \(ENOENT\)/],
      folder: [['folder.csv'], /folder\.csv is a folder/],
      empty: [['empty.csv'], /none of the columns/],
      wide: [['wide.csv'], /UTF-16; save it as UTF-8/],
      other: [['other.csv'], /none of the columns title, author and year; see --map/],
      lacking: [['good.csv', '--map', 'author=authors'], /no column authors/],
      configuration: [['good.csv'], /DB_URL: it must begin/, { DB_URL: 'mysql://root:hunter2@db/books' }],
      store: [
        ['good.csv'],
        /cannot be reached \(ECONNREFUSED\)/,
        { DB_URL: 'postgres://a:hunter2@127.0.0.1:1/b' },
      ],
    };
    for (const [name, [args, complaint, variables = {}]] of Object.entries(CASES)) {
      const ending = await runCommand(['import', ...args], { folder: folder.path, variables });
      assert.match(ending.complaints, /^bookkeeping: [^\n]+\n$/, name);
      assert.match(ending.complaints, complaint);
      assert.doesNotMatch(ending.complaints, /hunter2/);
      assert.deepEqual([ending.code, ending.output], [1, ''], name);
    }
  });

  test('takes a table that somebody else made, whose NULLs are empty, and moves its ids on', async () => {
    await using folder = await createFolder();
    await using database = await createDatabase();
    await database.query(
      'create table books (id bigserial primary key, title text, author text, year bigint)',
    );
    await database.query("insert into books (id, title) values (40, 'A'), (41, null)");
    const { code, output } = await runCommand(['import', '-', '--skip-existing'], {
      folder: folder.path,
      variables: { DB_URL: database.url },
      input: 'title,author,year\nA,,0\n,,\nB,,\n',
    });
    assert.deepEqual([code, tallyOf(output)], [0, { read: 3, stored: 1, skipped: 2, bad: 0 }]);
    assert.deepEqual(await database.query('select id::int from books order by id'), [
      { id: 40 },
      { id: 41 },
      { id: 42 },
    ]);
  });
});
