import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { runCommand } from '../../testkit/command.ts';
import { engines } from '../../testkit/engines.ts';
import { createFolder } from '../../testkit/folder.ts';
import { createDatabase } from '../../testkit/postgres.ts';
import { query } from '../../testkit/sql.ts';
import { openStoreAt } from '../../testkit/stores.ts';
import { booksAt, putBooks, tallyOf } from './books.ts';

const ILIAD = { title: 'The Iliad', author: 'Homer', year: -750 };
const ODYSSEY = { title: 'The Odyssey', author: 'Homer', year: -720 };

for (const engine of engines) {
  describe(`bookkeeping import on ${engine.name}`, { concurrency: 2 }, () => {
    test('stores the rows of a file with mapped columns, and prints a summary', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      await writeFile(
        join(folder.path, 'list.CSV'),
        '\ufeffn,original_title,authors,original_publication_year\r\n9,The Iliad,Homer,-750.0\r\n8,"The ""Odyssey""\r\n2","Homer, and others",\r\n',
      );
      const map = 'title=original_title,author=authors,year=original_publication_year';
      const variables = { DB_URL: address.dbUrl, NODE_ENV: 'production' };
      const args = ['import', 'list.CSV', '--map', map];
      const { code, stdout, stderr } = await runCommand(args, { folder: folder.path, variables });
      assert.match(stdout, /^read 2, stored 2, skipped 0, bad 0, in [0-9.]+ s, [0-9]+ rows\/s\n$/);
      assert.deepEqual([code, stderr], [0, '']);
      assert.deepEqual(await booksAt(address.dbUrl), [
        { id: 1, ...ILIAD },
        { id: 2, title: 'The "Odyssey"\r\n2', author: 'Homer, and others', year: 0 },
      ]);
      const dryRun = await runCommand([...args, '--dry-run', '--json'], { folder: folder.path, variables });
      assert.partialDeepStrictEqual(JSON.parse(dryRun.stdout), {
        read: 2,
        stored: 2,
        bad: 0,
        result: 'complete',
      });
    });

    test('reports the rows that the table does not accept by line, and stores the others', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      const key = engine.name === 'SQLite' ? 'integer primary key autoincrement' : 'bigserial primary key';
      await query(
        address.dbUrl,
        `create table books (id ${key}, title text, author text, year bigint, constraint known check (year < 9999))`,
      );
      const variables = { DB_URL: address.dbUrl };
      const rows = Array.from({ length: 5_000 }, (_, index) => (index % 1_000 === 7 ? 9_999 : index));
      const input = `id,title,author,year\n${rows.map((year, index) => `${index + 1},Book,,${year}\n`).join('')}`;
      const reason = `the table books does not accept this book: ${engine.name === 'SQLite' ? 'CHECK' : 'constraint'} known`;
      const bad = [9, 1_009, 2_009, 3_009, 4_009].map((line) => `line ${line}: ${reason}\n`);
      const args = ['import', '-', '--format', 'csv'];
      const strict = await runCommand([...args, '--strict'], { folder: folder.path, variables, input });
      assert.deepEqual([strict.code, strict.stderr.split('\n')[0]], [1, bad[0]?.trim()]);
      assert.deepEqual(await booksAt(address.dbUrl), []);
      for (const [keeping, stored] of [
        [['--keep-ids'], 4_995],
        [[], 4_995],
      ] as const) {
        const { code, stdout, stderr } = await runCommand([...args, ...keeping], {
          folder: folder.path,
          variables,
          input,
        });
        // A slow import also prints its progress.
        const lines = stderr.replaceAll(/^[0-9,]+ rows, .*\n/gm, '');
        assert.deepEqual([code, lines], [1, bad.join('')]);
        assert.deepEqual(tallyOf(stdout), { read: 5_000, stored, skipped: 0, bad: 5 });
      }
      assert.equal((await booksAt(address.dbUrl)).length, 9_990);
    });

    test('with --strict stores all rows, or none if one is bad', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      const variables = { DB_URL: address.dbUrl };
      const good = Array.from({ length: 5_000 }, (_, index) => `Book ${index},,${index}\n`).join('');
      const args = ['import', '--strict', '-'];
      const bad = { folder: folder.path, variables, input: `title,author,year\n${good}Bad,,x\nBad,,x\n` };
      const rejected = await runCommand(args, bad);
      assert.match(
        rejected.stderr,
        /^line 5002: year is not [^\n]+\nrows whose year cannot be read [^\n]+--year-unknown 0\n$/,
      );
      assert.match(rejected.stdout, /^read 5001, stored 0, skipped 0, bad 1, /);
      assert.equal(rejected.code, 1);
      assert.deepEqual(await booksAt(address.dbUrl), []);

      const accepted = await runCommand(args, { ...bad, input: `title,author,year\n${good}` });
      assert.deepEqual([accepted.code, tallyOf(accepted.stdout).stored], [0, 5_000]);
      assert.equal((await booksAt(address.dbUrl)).length, 5_000);
    });

    test('with --skip-existing skips one row for each stored book, and stores equal rows', async () => {
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
      assert.deepEqual([first.code, tallyOf(first.stdout)], [0, { read: 5, stored: 4, skipped: 1, bad: 0 }]);
      const second = await runCommand(args, { folder: folder.path, variables, input });
      assert.deepEqual(
        [second.code, tallyOf(second.stdout)],
        [0, { read: 5, stored: 0, skipped: 5, bad: 0 }],
      );
      assert.equal((await booksAt(address.dbUrl)).length, 6);
    });

    test('with --keep-ids keeps ids, overwrites no book, and new ids follow the highest', async () => {
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
        again.stderr,
        'line 5: id is not a whole number from 1 to 9007199254740991: ""\nline 4: another book has the id 70\n',
      );
      assert.deepEqual([again.code, tallyOf(again.stdout)], [1, { read: 5, stored: 1, skipped: 2, bad: 2 }]);
      await using store = await openStoreAt(address.dbUrl);
      assert.equal((await store.create(ILIAD)).id, 71);
      assert.deepEqual(
        (await booksAt(address.dbUrl)).map(({ id }) => id),
        [7, 8, 70, 71],
      );
    });

    test('with --update changes the books of a corrected export, again without effect, and shows the changes before', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      const variables = { DB_URL: address.dbUrl };
      const books = Array.from({ length: 5_000 }, (_, index) => ({
        title: `Book ${index + 1}`,
        author: '=Anybody, and others',
        year: index,
      }));
      await putBooks(address.dbUrl, books);
      const file = join(folder.path, 'books.csv');
      assert.equal((await runCommand(['export', file], { folder: folder.path, variables })).code, 0);
      // Every hundredth year, the first of them in line 2.
      const exported = await readFile(file, 'utf8');
      await writeFile(
        file,
        exported.replace(/,([0-9]*00|0)\r/g, (_, year: string) => `,${Number(year) + 1}\r`),
      );
      const run = (...args: string[]) =>
        runCommand(['import', file, '--update', ...args], { folder: folder.path, variables });

      const preview = await run('--dry-run');
      const lines = preview.stdout.split('\n');
      assert.deepEqual(
        [preview.code, preview.stderr, lines.length, lines.slice(0, 3)],
        [
          0,
          '',
          23,
          [
            'columns: id = id, title = title, author = author, year = year',
            'line 2: book 1: year 0 → 1',
            'line 102: book 101: year 100 → 101',
          ],
        ],
      );
      assert.match(
        lines[21] ?? '',
        /^read 5000, would update 50, unchanged 4950, would store 0, skipped 0, bad 0, /,
      );
      assert.deepEqual((await booksAt(address.dbUrl))[100], { id: 101, ...books[100] });

      const changed = await run();
      assert.deepEqual([changed.code, changed.stderr], [0, '']);
      assert.match(changed.stdout, /^read 5000, updated 50, unchanged 4950, stored 0, skipped 0, bad 0, /);
      const expected = books.map((book, index) => ({
        id: index + 1,
        ...book,
        year: index % 100 === 0 ? index + 1 : index,
      }));
      assert.deepEqual(await booksAt(address.dbUrl), expected);
      const again = await run('--json');
      assert.partialDeepStrictEqual(JSON.parse(again.stdout), {
        read: 5_000,
        stored: 0,
        skipped: 0,
        bad: 0,
        updated: 0,
        unchanged: 5_000,
        result: 'complete',
      });
      assert.deepEqual(await booksAt(address.dbUrl), expected);
    });

    test('with --update adds rows without an id, rejects ids that no book has, and never stores one of them', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      const variables = { DB_URL: address.dbUrl };
      {
        await using store = await openStoreAt(address.dbUrl);
        for (const fields of [ILIAD, ODYSSEY, ILIAD]) await store.create(fields);
        await store.delete(3);
      }
      const input =
        'No.,year,title\n1,-751,\n3,1,Deleted\n,1759,Candide\n2,-720,The Odyssey\n1,5,Again\nx,5,\n';
      const run = (...args: string[]) =>
        runCommand(['import', '-', '--update', '--map', 'id=No.', ...args], {
          folder: folder.path,
          variables,
          input,
        });
      const strict = await run('--strict');
      assert.deepEqual([strict.code, (await booksAt(address.dbUrl)).length], [1, 2]);
      const { code, stdout, stderr } = await run();
      assert.match(stdout, /^read 6, updated 1, unchanged 1, stored 1, skipped 0, bad 3, /);
      assert.equal(
        stderr,
        [
          'columns: id = No., title = title, author unchanged, year = year',
          'line 6: an earlier row has the id 1',
          'line 7: No. is not a whole number from 1 to 9007199254740991: "x"',
          'line 3: no book has the id 3: it was deleted, or it is of another store',
          '',
        ].join('\n'),
      );
      const stored = [
        { id: 1, title: '', author: 'Homer', year: -751 },
        { id: 2, ...ODYSSEY },
        { id: 4, title: 'Candide', author: '', year: 1759 },
      ];
      assert.deepEqual([code, await booksAt(address.dbUrl)], [1, stored]);
      assert.match(
        (await run('--skip-existing')).stdout,
        /^read 6, updated 0, unchanged 2, stored 0, skipped 1, /,
      );
      assert.deepEqual(await booksAt(address.dbUrl), stored);
    });

    test('with --update reports the rows that the table does not accept, and changes the others', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      const key = engine.name === 'SQLite' ? 'integer primary key autoincrement' : 'bigserial primary key';
      await query(
        address.dbUrl,
        `create table books (id ${key}, title text, author text, year bigint, constraint known check (year < 9999))`,
      );
      await putBooks(address.dbUrl, [ILIAD, ODYSSEY, ILIAD]);
      const { code, stdout, stderr } = await runCommand(['import', '-', '--update'], {
        folder: folder.path,
        variables: { DB_URL: address.dbUrl },
        input: 'id,year\n1,1\n2,9999\n3,3\n,9999\n,5\n',
      });
      const reason = `the table books does not accept this book: ${engine.name === 'SQLite' ? 'CHECK' : 'constraint'} known`;
      assert.deepEqual(stderr.split('\n').slice(1), [`line 3: ${reason}`, `line 5: ${reason}`, '']);
      assert.match(stdout, /^read 5, updated 2, unchanged 0, stored 1, skipped 0, bad 2, /);
      const years = (await booksAt(address.dbUrl)).map(({ year }) => year);
      assert.deepEqual([code, years], [1, [1, ODYSSEY.year, 3, 5]]);
    });

    test('with --update writes changed fields only: NULL and a longer text than an import stores stay in the others', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      const key = engine.name === 'SQLite' ? 'integer primary key autoincrement' : 'bigserial primary key';
      await query(address.dbUrl, `create table books (id ${key}, title text, author text, year bigint)`);
      const [long, longer] = ['x'.repeat(4_097), 'x'.repeat(4_098)];
      await query(address.dbUrl, `insert into books (title, year) values ($1, 1), ('B', 2), ('C', null)`, [
        long,
      ]);
      const { code, stdout, stderr } = await runCommand(['import', '-', '--update'], {
        folder: folder.path,
        variables: { DB_URL: address.dbUrl },
        input: `id,title,author,year\n1,${long},,5\n2,${longer},,2\n3,C,c,0\n,${long},,3\n`,
      });
      const reason = 'title has more than 4096 characters\n';
      assert.equal(stderr, `line 5: ${reason}line 3: ${reason}`);
      assert.match(stdout, /^read 4, updated 2, unchanged 0, stored 0, skipped 0, bad 2, /);
      const rows = await query(address.dbUrl, 'select title, author, year from books order by id');
      assert.deepEqual(
        [code, rows.map(({ title, author, year }) => [title, author, year === null ? null : Number(year)])],
        [
          1,
          [
            [long, null, 5],
            ['B', null, 2],
            ['C', 'c', null],
          ],
        ],
      );
    });

    test('with --update changes nothing if most books have another title and author than their rows, without --trust-ids', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      await putBooks(address.dbUrl, [ILIAD, ODYSSEY, ILIAD, ODYSSEY]);
      const before = await booksAt(address.dbUrl);
      const run = (...args: string[]) =>
        runCommand(['import', '-', '--update', ...args], {
          folder: folder.path,
          variables: { DB_URL: address.dbUrl },
          input:
            'id,title,author,year\n,New,,1\n1,Emma,Jane Austen,1815\n2,Candide,Voltaire,1759\n3,The Iliad,N. N.,1\n4,Faust,Goethe,1808\n9,Ulysses,Joyce,1922\n',
        });
      for (const args of [[], ['--strict'], ['--dry-run']]) {
        const { code, stdout, stderr } = await run(...args);
        assert.match(
          stderr,
          /^bookkeeping: most of the first 4 books with the ids of the file have another title and another author .* --trust-ids\n$/,
        );
        assert.deepEqual([code, stdout.includes('read')], [1, false]);
        assert.deepEqual(await booksAt(address.dbUrl), before);
      }
      const { code, stdout } = await run('--trust-ids');
      assert.match(stdout, /^read 6, updated 4, unchanged 0, stored 1, skipped 0, bad 1, /);
      assert.equal(code, 1);
    });

    test('with --update and --year-unknown 0 keeps the stored year where that of the row cannot be read', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      await putBooks(address.dbUrl, [ILIAD, ODYSSEY]);
      const args = ['import', '-', '--update', '--year-unknown', '0'];
      const { code, stdout } = await runCommand(args, {
        folder: folder.path,
        variables: { DB_URL: address.dbUrl },
        input: 'id,title,year\n1,Ilias,ca. 700\n2,The Odyssey,?!\n,Candide,18th century\n',
      });
      assert.match(
        stdout,
        /^read 3, updated 1, unchanged 1, stored 1, skipped 0, bad 0, .*; 3 with a year that cannot be read: stored books keep theirs, and new ones have 0\n$/,
      );
      assert.equal(code, 0);
      assert.deepEqual(await booksAt(address.dbUrl), [
        { id: 1, ...ILIAD, title: 'Ilias' },
        { id: 2, ...ODYSSEY },
        { id: 3, title: 'Candide', author: '', year: 0 },
      ]);
    });

    test('with --skip-existing says how many rows look like changed books, before and after they are stored', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      const variables = { DB_URL: address.dbUrl };
      await putBooks(address.dbUrl, [ILIAD, ODYSSEY]);
      const input = 'title,author,year\nThe Iliad,Homer,-750\nthe odyssey!,HOMER,-721\nNew,,1\n';
      for (const args of [['--dry-run'], []]) {
        const { code, stderr } = await runCommand(['import', '-', '--skip-existing', ...args], {
          folder: folder.path,
          variables,
          input,
        });
        assert.match(stderr, /^1 rows look like changed books: .* --update\n$/);
        assert.equal(code, 0);
      }
      assert.equal((await booksAt(address.dbUrl)).length, 4);
    });

    test('with --keep-ids and --strict stores nothing if another book has an id', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      const variables = { DB_URL: address.dbUrl };
      {
        await using store = await openStoreAt(address.dbUrl);
        await store.create(ILIAD);
      }
      const input = 'id,title\n5,New\n1,Another\n6,New\n';
      const args = ['import', '-', '--keep-ids', '--strict', '--map', 'author=,year='];
      const { code, stdout } = await runCommand(args, {
        folder: folder.path,
        variables,
        input,
      });
      assert.deepEqual([code, tallyOf(stdout)], [1, { read: 3, stored: 0, skipped: 0, bad: 1 }]);
      assert.deepEqual(await booksAt(address.dbUrl), [{ id: 1, ...ILIAD }]);
    });
  });
}

describe('bookkeeping import', { concurrency: 2 }, () => {
  test('reports bad rows by line number, stores the others, and exits with 1', async () => {
    await using folder = await createFolder();
    const variables = { DB_URL: `sqlite:${join(folder.path, 'books.db')}` };
    const input = '[{"title":"A"},{"title":true},\n{"title":"B"}]';
    const some = await runCommand(['import', '-', '--format', 'json', '--map', 'author=,year='], {
      folder: folder.path,
      variables,
      input,
    });
    assert.equal(
      some.stderr,
      'element 2 (line 1): title is not a text of well-formed Unicode without U+0000\n',
    );
    assert.deepEqual(tallyOf(some.stdout), { read: 3, stored: 2, skipped: 0, bad: 1 });
    assert.equal(some.code, 1);

    const many = await runCommand(['import', '-', '--map', 'author='], {
      folder: folder.path,
      variables,
      input: `title,year\n${'X,x\n'.repeat(250)}C,1\n`,
    });
    assert.equal(many.stderr.split('\n').length, 102);
    assert.match(many.stdout, /^read 251, stored 1, skipped 0, bad 250 \(150 of them not shown\), /);
    assert.deepEqual(
      (await booksAt(variables.DB_URL)).map(({ title }) => title),
      ['A', 'B', 'C'],
    );
  });

  test('with --update reads JSON, in which a missing member leaves the field alone and null empties it', async () => {
    await using folder = await createFolder();
    const variables = { DB_URL: `sqlite:${join(folder.path, 'books.db')}` };
    await putBooks(variables.DB_URL, [ILIAD, ODYSSEY, ILIAD]);
    const input = '[{"id":1,"year":-751},{"id":2,"author":null},{"title":"New","year":"c1999"},{"id":"3"}]';
    const args = ['import', '-', '--format', 'json', '--update'];
    const { stdout, stderr } = await runCommand(args, { folder: folder.path, variables, input });
    assert.match(stderr, /^element 4 \(line 1\): id is not a whole number from 1 to [0-9]+: "3"\n$/);
    assert.match(stdout, /^read 4, updated 2, unchanged 0, stored 1, skipped 0, bad 1, /);
    assert.deepEqual(await booksAt(variables.DB_URL), [
      { id: 1, ...ILIAD, year: -751 },
      { id: 2, ...ODYSSEY, author: '' },
      { id: 3, ...ILIAD },
      { id: 4, title: 'New', author: '', year: 1999 },
    ]);
  });

  test('with --update reads members of JSON that first occur behind its first thousand objects, unless --map omits them', async () => {
    await using folder = await createFolder();
    const variables = { DB_URL: `sqlite:${join(folder.path, 'books.db')}` };
    await putBooks(
      variables.DB_URL,
      Array.from({ length: 3_001 }, () => ILIAD),
    );
    const rows = Array.from({ length: 3_000 }, (_, index) => `{"id":${index + 1},"year":-751}\n`);
    const input = `${rows.join('')}{"id":3001,"title":"Ilias","author":"Homeros"}\n`;
    const args = ['import', '-', '--format', 'ndjson', '--update'];
    const omitting = await runCommand([...args, '--dry-run', '--map', 'title=,author='], {
      folder: folder.path,
      variables,
      input,
    });
    assert.match(omitting.stdout, /^read 3001, would update 3000, unchanged 1, /m);
    const { code, stdout } = await runCommand(args, { folder: folder.path, variables, input });
    assert.match(stdout, /^read 3001, updated 3001, unchanged 0, stored 0, skipped 0, bad 0, /);
    const books = await booksAt(variables.DB_URL);
    assert.deepEqual(
      [code, books[2_999], books[3_000]],
      [
        0,
        { id: 3_000, ...ILIAD, year: -751 },
        { id: 3_001, title: 'Ilias', author: 'Homeros', year: ILIAD.year },
      ],
    );
  });

  test('with --update needs the column id and another one, and excludes --keep-ids', async () => {
    await using folder = await createFolder();
    const variables = { DB_URL: `sqlite:${join(folder.path, 'books.db')}` };
    for (const [input, args, message] of [
      [
        'title,year\n',
        [],
        /no column for id; the columns are: title, year\. Name one with --map id=COLUMN\n/,
      ],
      ['id,shelf\n', [], /no column for title, author, year; /],
      ['id,title\n', ['--keep-ids'], /--keep-ids is for new books, and --update for stored ones\n/],
    ] as const) {
      const command = ['import', '-', '--update', ...args];
      const { code, stderr } = await runCommand(command, { folder: folder.path, variables, input });
      assert.match(stderr, message);
      assert.notEqual(code, 0);
    }
    const trusting = await runCommand(['import', '-', '--trust-ids'], { folder: folder.path, variables });
    assert.deepEqual([trusting.code, trusting.stderr], [2, 'bookkeeping: --trust-ids needs --update\n']);
    for (const option of ['--update', '--keep-ids']) {
      const { code, stderr } = await runCommand(['import', '-', option, '--map', 'id='], {
        folder: folder.path,
        variables,
        input: 'id,title,author,year\n1,A,a,1\n',
      });
      assert.deepEqual([code, stderr], [2, 'bookkeeping: --map must name the column of id\n']);
    }
    assert.deepEqual(await readdir(folder.path), []);
  });

  test('stores rows whose year cannot be read with --year-unknown 0, and the years of the others', async () => {
    await using folder = await createFolder();
    const variables = { DB_URL: `sqlite:${join(folder.path, 'books.db')}` };
    const input = 'title,author,year\nA,a,ca. 1850\nB,b,c1999\nC,c,20190305\nD,d,12345678\n';
    const run = (...args: string[]) =>
      runCommand(['import', '-', ...args], { folder: folder.path, variables, input });
    const plain = await run('--dry-run', '--json');
    assert.equal(
      plain.stderr,
      'line 2: year is not the year of a book: "ca. 1850"\nline 5: year is not the year of a book: "12345678"\n' +
        'rows whose year cannot be read are stored, with the year 0, by --year-unknown 0\n',
    );
    const { code, stdout, stderr } = await run('--year-unknown', '0');
    assert.match(
      stdout,
      /^read 4, stored 4, skipped 0, bad 0, in [^;]+; 2 without a year that can be read, which is 0\n$/,
    );
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(
      (await booksAt(variables.DB_URL)).map(({ year }) => year),
      [0, 1999, 2019, 0],
    );
    const other = await run('--year-unknown', '1900');
    assert.deepEqual([other.code, other.stderr], [2, 'bookkeeping: --year-unknown must be 0\n']);
  });

  test('says what a file is that has no table, by its content', async () => {
    await using folder = await createFolder();
    const variables = { DB_URL: `sqlite:${join(folder.path, 'books.db')}` };
    for (const [name, bytes, message] of [
      [
        'books.csv',
        Buffer.from('PK\x03\x04..........................[Content_Types].xml', 'latin1'),
        /is a workbook, Excel \(\.xlsx\): save the sheet as CSV/,
      ],
      [
        'books.xlsx',
        Buffer.from('PK\x03\x04..........................xl/workbook.xml', 'latin1'),
        /is a workbook, Excel \(\.xlsx\)/,
      ],
      [
        'books.ods',
        Buffer.from(
          'PK\x03\x04..........................mimetypeapplication/vnd.oasis.opendocument.spreadsheetPK',
          'latin1',
        ),
        /is a workbook, OpenDocument/,
      ],
      ['books.xls', Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0]), /is a workbook, Excel \(\.xls\)/],
      [
        'export.zip',
        Buffer.from('PK\x03\x04..........................books.json', 'latin1'),
        /is packed, ZIP: unpack it/,
      ],
      ['books.csv.gz', gzipSync('title,author,year\n'), /is packed, gzip: unpack it/],
      [
        'page.xls',
        Buffer.from('\ufeff <html><table><tr><td>Title'),
        /is HTML, which has no table that can be read: export the books as CSV or JSON/,
      ],
      ['books.csv', Buffer.from('<!DOCTYPE html>\n<html>'), /is HTML/],
      ['books.xml', Buffer.from('<?xml version="1.0"?><collection/>'), /is XML/],
      ['books.pdf', Buffer.from('%PDF-1.7'), /is PDF/],
      ['metadata.db', Buffer.from('SQLite format 3\0'), /is SQLite/],
      ['books.mrc', Buffer.from('00714cam a2200205 a 4500001001300000\x1e'), /is MARC 21/],
      ['books.bib', Buffer.from('% a comment\n@book{austen,\n title = {Emma}}'), /is BibTeX/],
      ['books.ris', Buffer.from('TY  - BOOK\nTI  - Emma'), /is RIS/],
      ['books.png', Buffer.from([0x89, 0x50, 0, 0, 1, 2, 3, 4]), /is not a text file/],
      [
        'shift-jis.csv',
        Buffer.from('title\n\x96{\x82\xcc\x8fW\n', 'latin1'),
        /is neither in UTF-8 nor in Windows-1252: save it as UTF-8/,
      ],
    ] as const) {
      await writeFile(join(folder.path, name), bytes);
      const { code, stdout, stderr } = await runCommand(['import', name], { folder: folder.path, variables });
      assert.match(stderr, /^bookkeeping: [^\n]+\n$/, name);
      assert.match(stderr, message);
      assert.deepEqual([code, stdout], [1, ''], name);
    }
    const input = '<html>';
    const standard = await runCommand(['import', '-'], { folder: folder.path, variables, input });
    assert.match(standard.stderr, /^bookkeeping: standard input is HTML/);
  });

  test('fails with one line on unreadable files and an unreachable store', async () => {
    await using folder = await createFolder();
    await mkdir(join(folder.path, 'folder.csv'));
    await writeFile(join(folder.path, 'empty.csv'), '');
    await writeFile(join(folder.path, 'unclear.csv'), '"title,author,year\nA,a,1\n');
    await writeFile(join(folder.path, 'other.csv'), 'a;b\n1;2\n');
    await writeFile(join(folder.path, 'good.csv'), 'title,author,year\nA,a,1\n');
    const CASES: Record<
      string,
      [args: readonly string[], message: RegExp, variables?: Record<string, string>]
    > = {
      missing: [['missing.csv'], /missing\.csv cannot be read \(ENOENT\)/],
      folder: [['folder.csv'], /folder\.csv is a directory/],
      empty: [['empty.csv'], /no column for title, author, year; the file has no columns/],
      unclear: [['unclear.csv'], /the first line cannot be read: its quotation marks are unclear/],
      other: [
        ['other.csv'],
        /no column for title, author, year; the columns are: a, b\. Name one with --map title=COLUMN/,
      ],
      lacking: [
        ['good.csv', '--map', 'author=authors'],
        /no column for authors; the columns are: title, author, year/,
      ],
      configuration: [['good.csv'], /DB_URL: it must begin/, { DB_URL: 'mysql://root:hunter2@db/books' }],
      store: [
        ['good.csv'],
        /cannot be reached \(ECONNREFUSED\)/,
        { DB_URL: 'postgres://a:hunter2@127.0.0.1:1/b' },
      ],
    };
    for (const [name, [args, message, variables = {}]] of Object.entries(CASES)) {
      const ending = await runCommand(['import', ...args], { folder: folder.path, variables });
      assert.match(ending.stderr, /^bookkeeping: [^\n]+\n$/, name);
      assert.match(ending.stderr, message);
      assert.doesNotMatch(ending.stderr, /hunter2/);
      assert.deepEqual([ending.code, ending.stdout], [1, ''], name);
    }
  });

  test('accepts a table of another program, reads NULL as empty, and advances its ids', async () => {
    await using folder = await createFolder();
    await using database = await createDatabase();
    await database.query(
      'create table books (id bigserial primary key, title text, author text, year bigint)',
    );
    await database.query("insert into books (id, title) values (40, 'A'), (41, null)");
    const { code, stdout } = await runCommand(['import', '-', '--skip-existing'], {
      folder: folder.path,
      variables: { DB_URL: database.url },
      input: 'title,author,year\nA,,0\n,,0\nB,,\n',
    });
    assert.deepEqual([code, tallyOf(stdout)], [0, { read: 3, stored: 1, skipped: 2, bad: 0 }]);
    assert.deepEqual(await database.query('select id::int from books order by id'), [
      { id: 40 },
      { id: 41 },
      { id: 42 },
    ]);
  });
});

describe('The columns of an import', { concurrency: 2 }, () => {
  const PERSUASION = ['Persuasion', 'Jane Austen'] as const;
  const TIME_MACHINE = ['The Time Machine', 'H. G. Wells'] as const;
  /** The books of each file, in which some years are unknown; or the options that it needs, and the error without them. */
  const FILES: Readonly<Record<string, readonly (readonly [string, string, number])[]>> = {
    // The second book has no original year.
    'goodreads.csv': [
      [...PERSUASION, 1817],
      ['The Time Machine (Classics, #2)', 'H.G. Wells', 1999],
    ],
    'storygraph.csv': [
      [...PERSUASION, 0],
      ['The Time Machine', 'H.G. Wells, A Translator', 0],
    ],
    'librarything.tsv': [
      ['Persuasion', 'Austen, Jane', 2004],
      ['The Time Machine', 'Wells, H. G.', 1999],
      ['"Jekyll" and Other Tales', 'Stevenson, R. L.', 1886],
      ['"The Master', 'Stevenson, R. L.', 1889],
    ],
    'librarything.json': [
      [...PERSUASION, 2004],
      ['The Time Machine', 'H. G. Wells; A. C. Clarke', 0],
    ],
    'bookwyrm.csv': [
      [...PERSUASION, 0],
      ['The Time Machine', 'H.G. Wells', 0],
    ],
    'calibre.csv': [
      [...PERSUASION, 1817],
      [...TIME_MACHINE, 0],
    ],
    'calibre.json': [
      [...PERSUASION, 1817],
      [...TIME_MACHINE, 0],
    ],
    'zotero.csv': [
      ['Persuasion', 'Austen, Jane', 1817],
      ['The Time Machine, "annotated"', 'Wells, H. G.; Clarke, A. C.', 1895],
    ],
    'libib.csv': [
      [...PERSUASION, 1817],
      ['The Time Machine', 'H. G. Wells, A. C. Clarke', 1895],
    ],
    'bookbuddy.csv': [
      [...PERSUASION, 1817],
      [...TIME_MACHINE, 1999],
    ],
    'book-crossing.csv': [
      ['Persuasion &amp; more', 'Jane Austen', 1999],
      ['The "Time" Machine', 'H. G. Wells', 0],
      ['Émile', 'Jean-Jacques Rousseau', 1762],
    ],
    'open-library-search.json': [
      [...PERSUASION, 1817],
      ['The Time Machine', 'H. G. Wells; A. C. Clarke', 0],
    ],
    'open-library-books.json': [
      [...PERSUASION, 1817],
      [...TIME_MACHINE, 1895],
    ],
    'open-library-log.json': [
      [...PERSUASION, 1817],
      [...TIME_MACHINE, 0],
    ],
    'bookkeeping.json': [
      [...PERSUASION, 1817],
      [...TIME_MACHINE, 1895],
    ],
    'list-german.csv': [
      ['Überredung', 'Austen, Jane', 1990],
      ['Die Zeitmaschine', 'Wells, H. G.', 1904],
    ],
    'list-french.csv': [
      [...PERSUASION, 1996],
      ['La Machine à explorer le temps', 'H. G. Wells', 1899],
    ],
    'list-spanish.csv': [
      ['Persuasión', 'Jane Austen', 1996],
      ['La máquina del tiempo', 'H. G. Wells', -44],
    ],
    'list-italian.csv': [
      ['Persuasione', 'Jane Austen', 1998],
      ['La macchina del tempo', 'H. G. Wells', 1901],
    ],
    'list-portuguese.txt': [
      ['Persuasão', 'Jane Austen', 1996],
      ['A Máquina do Tempo', 'H. G. Wells', 1990],
    ],
    'list-chinese.csv': [
      ['劝导', '简·奥斯汀', 2000],
      ['时间机器', '威尔斯', -44],
    ],
  };
  const WITHOUT_YEAR = ['storygraph.csv', 'bookwyrm.csv'];
  const WINDOWS_1252 = ['book-crossing.csv', 'list-german.csv', 'list-french.csv', 'list-spanish.csv'];
  for (const [file, books] of Object.entries(FILES)) {
    test(`are found in ${file}, except for a missing year`, async () => {
      await using folder = await createFolder();
      const variables = { DB_URL: `sqlite:${join(folder.path, 'books.db')}` };
      const path = join(import.meta.dirname, 'exports', file);
      const plain = await runCommand(['import', path], { folder: folder.path, variables });
      if (WITHOUT_YEAR.includes(file)) {
        assert.match(plain.stderr, /^bookkeeping: no column for year; the columns are: title, [^\n]+\n$/i);
        assert.match(plain.stderr, /--map year=COLUMN, or omit it with year=/);
        assert.deepEqual([plain.code, plain.stdout, await readdir(folder.path)], [1, '', []]);
        const args = ['import', path, '--map', 'year='];
        assert.equal((await runCommand(args, { folder: folder.path, variables })).code, 0);
      } else {
        assert.equal(plain.code, 0, plain.stderr);
        const note = 'the file is not UTF-8, and is read as Windows-1252: check the accented letters\n';
        assert.equal(plain.stderr.includes(note), WINDOWS_1252.includes(file));
      }
      assert.deepEqual(
        (await booksAt(variables.DB_URL)).map(({ title, author, year }) => [title, author, year]),
        books,
      );
    });
  }

  test('and every file of the folder with examples are known', async () => {
    const files = await readdir(join(import.meta.dirname, 'exports'));
    assert.deepEqual(files.toSorted(), Object.keys(FILES).toSorted());
  });

  test('are required: otherwise the file is rejected before a store is created', async () => {
    await using folder = await createFolder();
    const variables = { DB_URL: `sqlite:${join(folder.path, 'books.db')}` };
    const run = (input: string, ...args: string[]) =>
      runCommand(['import', '-', ...args], { folder: folder.path, variables, input });
    const array = '[{"name":"A","authors":"a","published":1}]';
    for (const [input, args, missing] of [
      ['title,author,published_by\nA,a,1\n', [], 'year'],
      ['title,author,year\nA,a,1\n', ['--keep-ids'], 'id'],
      ['title,author,year\nA,a,1\n', ['--map', 'title=author'], 'author'],
      ['[{"title":"A","year":1}]', ['--format=json'], 'author'],
      ['{"title":"A","year":1}', ['--format=ndjson'], 'author'],
      [array, ['--format=json', '--map', 'year=published_in'], 'published_in'],
    ] as const) {
      const { code, stdout, stderr } = await run(input, ...args);
      assert.match(stderr, new RegExp(`^bookkeeping: no column for ${missing}; the columns are: [^\n]+\n$`));
      assert.deepEqual([code, stdout, await readdir(folder.path)], [1, '', []], stderr);
    }
    const guessed = await run(array, '--format=json');
    assert.equal(guessed.stderr, 'columns: title = name, author = authors, year = published\n');
    const later = `{"title":"B","author":"b"}\n{"title":"C","author":"c","year":3}\n`;
    assert.equal((await run(later.slice(0, 27), '--format=ndjson', '--map', 'year=year')).code, 0);
    assert.equal((await run('[]', '--format=json')).code, 0);
    assert.deepEqual(
      (await booksAt(variables.DB_URL)).map(({ title, author, year }) => `${title}|${author}|${year}`),
      ['A|a|1', 'B|b|0'],
    );
  });

  test('may follow the declaration of Excel, and be in UTF-16 or Windows-1252, also in the header', async () => {
    await using folder = await createFolder();
    const variables = { DB_URL: `sqlite:${join(folder.path, 'books.db')}` };
    const text = 'sep=;\r\ntítulo;autor;año\r\nÄpfel;Groß;1999\r\n';
    const columns = 'columns: title = título, author = autor, year = año\n';
    for (const [name, bytes, note] of [
      ['declared.csv', Buffer.from(text), ''],
      ['wide.csv', Buffer.from(`\ufeff${text}`, 'utf16le'), ''],
      ['unmarked.csv', Buffer.from(text, 'utf16le'), ''],
      [
        'western.csv',
        Buffer.from(text, 'latin1'),
        'the file is not UTF-8, and is read as Windows-1252: check the accented letters\n',
      ],
    ] as const) {
      await writeFile(join(folder.path, name), bytes);
      const { code, stderr } = await runCommand(['import', name], { folder: folder.path, variables });
      assert.deepEqual([code, stderr], [0, columns + note], name);
    }
    const books = await booksAt(variables.DB_URL);
    assert.deepEqual(
      books.map(({ title, author, year }) => [title, author, year]),
      Array.from({ length: 4 }, () => ['Äpfel', 'Groß', 1999]),
    );
  });

  test('are numbered with --no-header, which a file without a header asks for', async () => {
    await using folder = await createFolder();
    const variables = { DB_URL: `sqlite:${join(folder.path, 'books.db')}` };
    const input = 'Emma;Jane Austen;1815\nFaust;Goethe;1808\n';
    const run = (...args: string[]) =>
      runCommand(['import', '-', ...args], { folder: folder.path, variables, input });
    const plain = await run();
    assert.equal(
      plain.stderr,
      "bookkeeping: the first line has no names of columns: if it is a book, add --no-header and the columns of its fields, such as --map 'title=#1,author=#2,year=#3'\n",
    );
    const unmapped = await run('--no-header');
    assert.match(
      unmapped.stderr,
      /^bookkeeping: no column for title, author, year; the columns are: #1 \(Emma\), #2 \(Jane Austen\), #3 \(1815\)\. /,
    );
    const unknown = await runCommand(['import', '-'], {
      folder: folder.path,
      variables,
      input: 'Emma,Jane Austen\n',
    });
    assert.match(unknown.stderr, /\. If the first line is a book, add --no-header\n$/);
    assert.deepEqual([plain.code, unmapped.code, await readdir(folder.path)], [1, 1, []]);
    assert.equal((await run('--no-header', '--map', 'title=#1,author=#2,year=#3')).code, 0);
    assert.deepEqual(
      (await booksAt(variables.DB_URL)).map(({ title, author, year }) => [title, author, year]),
      [
        ['Emma', 'Jane Austen', 1815],
        ['Faust', 'Goethe', 1808],
      ],
    );
    assert.equal((await run('--no-header', '--format', 'ndjson')).code, 2);
  });

  test('may have a comma in their names, and --map may be repeated', async () => {
    await using folder = await createFolder();
    const variables = { DB_URL: `sqlite:${join(folder.path, 'books.db')}` };
    const input = 'Title, Full;"Author (Last, First)";Year;Author\nEmma;Austen, Jane;1815;Jane Austen\n';
    for (const args of [
      ['--map', 'title=Title, Full', '--map', 'author=Author (Last, First)'],
      ['--map', 'title=Title, Full,author=Author (Last, First),year=Year'],
    ]) {
      const { code, stderr } = await runCommand(['import', '-', ...args], {
        folder: folder.path,
        variables,
        input,
      });
      assert.deepEqual([code, stderr], [0, '']);
    }
    const twice = ['--map', 'title=Year', '--map', 'author=Year'];
    const { code } = await runCommand(['import', '-', ...twice], { folder: folder.path, variables, input });
    assert.equal(code, 2);
    const authors = (await booksAt(variables.DB_URL)).map(({ author }) => author);
    assert.deepEqual(authors, ['Austen, Jane', 'Austen, Jane']);
  });

  test('are printed by --dry-run, with the first books, bad rows and counts, and nothing is stored', async () => {
    await using folder = await createFolder();
    const dbUrl = `sqlite:${join(folder.path, 'data', 'books.db')}`;
    const lines = Array.from({ length: 7 }, (_, index) => `Book ${index},a,${index}\n`).join('');
    const input = `original_title,authors,year\n${lines}Bad,b,x\n`;
    const args = ['import', '-', '--dry-run'];
    const run = (...more: string[]) =>
      runCommand([...args, ...more], { folder: folder.path, variables: { DB_URL: dbUrl }, input });
    const { code, stdout, stderr } = await run();
    const shown = [0, 1, 2, 3, 4].map(
      (year) => `line ${year + 2}: {"title":"Book ${year}","author":"a","year":${year}}\n`,
    );
    assert.ok(
      stdout.startsWith(
        `columns: title = original_title, author = authors, year = year\n${shown.join('')}read 8, `,
      ),
    );
    assert.match(stdout, /read 8, would store 7, skipped 0, bad 1, in [^\n]+; nothing is stored\n$/);
    assert.match(
      stderr,
      /^line 9: year is not the year of a book: "x"\nrows whose year cannot be read are stored, with the year 0, by --year-unknown 0\n$/,
    );
    assert.deepEqual([code, await readdir(folder.path)], [1, []]);

    await putBooks(dbUrl, [{ title: 'Book 3', author: 'a', year: 3 }]);
    const again = await run('--skip-existing', '--map', 'year=');
    assert.match(again.stdout, /^columns: [^\n]+, year omitted\n/);
    const skipping = await run('--skip-existing');
    assert.match(skipping.stdout, /read 8, would store 6, skipped 1, bad 1, /);
    assert.equal((await booksAt(dbUrl)).length, 1);
  });
});
