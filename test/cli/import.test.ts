import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
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
        `create table books (id ${key}, title text, author text, year bigint, constraint known check (year < 10000))`,
      );
      const variables = { DB_URL: address.dbUrl };
      const rows = Array.from({ length: 5_000 }, (_, index) => (index % 1_000 === 7 ? 10_000 : index));
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
        assert.deepEqual([code, stderr], [1, bad.join('')]);
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
      assert.match(rejected.stderr, /^line 5002: year is not [^\n]+\n$/);
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
    const input = '[{"title":"A"},{"title":1},\n{"title":"B"}]';
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
    assert.equal(many.stderr.split('\n').length, 101);
    assert.match(many.stdout, /^read 251, stored 1, skipped 0, bad 250 \(150 of them not shown\), /);
    assert.deepEqual(
      (await booksAt(variables.DB_URL)).map(({ title }) => title),
      ['A', 'B', 'C'],
    );
  });

  test('fails with one line on unreadable files and an unreachable store', async () => {
    await using folder = await createFolder();
    await mkdir(join(folder.path, 'folder.csv'));
    await writeFile(join(folder.path, 'empty.csv'), '');
    await writeFile(join(folder.path, 'other.csv'), 'a;b\n1;2\n');
    await writeFile(join(folder.path, 'good.csv'), 'title,author,year\nA,a,1\n');
    const CASES: Record<
      string,
      [args: readonly string[], message: RegExp, variables?: Record<string, string>]
    > = {
      missing: [['missing.csv'], /missing\.csv cannot be read \(ENOENT\)/],
      folder: [['folder.csv'], /folder\.csv is a directory/],
      empty: [['empty.csv'], /no column for title, author, year; the file has no columns/],
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
  const YEARS_OF_EXPORTS = {
    // Goodreads has no original year of the second book.
    'goodreads.csv': [1817, 1999],
    'storygraph.csv': undefined,
    'librarything.tsv': [2004, 1999],
    'bookwyrm.csv': undefined,
    'calibre.csv': [1817, 0],
  };
  for (const [file, years] of Object.entries(YEARS_OF_EXPORTS)) {
    test(`are found in ${file}, except for a missing year`, async () => {
      await using folder = await createFolder();
      const variables = { DB_URL: `sqlite:${join(folder.path, 'books.db')}` };
      const path = join(import.meta.dirname, 'exports', file);
      const plain = await runCommand(['import', path], { folder: folder.path, variables });
      if (years) assert.match(plain.stderr, /^columns: title = Title, author = [^\n]+\n$/i);
      else {
        assert.match(plain.stderr, /^bookkeeping: no column for year; the columns are: title, [^\n]+\n$/i);
        assert.match(plain.stderr, /--map year=COLUMN, or omit it with year=/);
        assert.deepEqual([plain.code, plain.stdout, await readdir(folder.path)], [1, '', []]);
        const args = ['import', path, '--map', 'year='];
        const mapped = await runCommand(args, { folder: folder.path, variables });
        assert.equal(mapped.code, 0);
      }
      const books = await booksAt(variables.DB_URL);
      assert.deepEqual(
        books.map(({ title, author, year }) => [title, /Austen|Wells/.exec(author)?.[0], year]),
        [
          ['Persuasion', 'Austen', years?.[0] ?? 0],
          [/^The Time Machine/.exec(books[1]?.title ?? '') && books[1]?.title, 'Wells', years?.[1] ?? 0],
        ],
      );
    });
  }

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

  test('may follow the declaration of Excel, and be UTF-16; for other encodings there is a hint', async () => {
    await using folder = await createFolder();
    const variables = { DB_URL: `sqlite:${join(folder.path, 'books.db')}` };
    const text = 'sep=;\r\ntitle;author;year\r\nÄpfel;Groß;1999\r\n';
    for (const [name, bytes] of [
      ['declared.csv', Buffer.from(text)],
      ['wide.csv', Buffer.from(`\ufeff${text}`, 'utf16le')],
      ['western.csv', Buffer.from(text, 'latin1')],
    ] as const) {
      await writeFile(join(folder.path, name), bytes);
      const { code, stderr } = await runCommand(['import', name], { folder: folder.path, variables });
      const isRead = name !== 'western.csv';
      assert.equal(code, isRead ? 0 : 1, name);
      assert.match(stderr, isRead ? /^$/ : /^line 3: it is not UTF-8; [^\n]*iconv -f WINDOWS-1252[^\n]*\n$/);
    }
    const books = await booksAt(variables.DB_URL);
    assert.deepEqual(
      books.map(({ title, author, year }) => [title, author, year]),
      [
        ['Äpfel', 'Groß', 1999],
        ['Äpfel', 'Groß', 1999],
      ],
    );
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
    assert.match(stderr, /^line 9: year is not a whole number [^\n]+\n$/);
    assert.deepEqual([code, await readdir(folder.path)], [1, []]);

    await putBooks(dbUrl, [{ title: 'Book 3', author: 'a', year: 3 }]);
    const again = await run('--skip-existing', '--map', 'year=');
    assert.match(again.stdout, /^columns: [^\n]+, year omitted\n/);
    const skipping = await run('--skip-existing');
    assert.match(skipping.stdout, /read 8, would store 6, skipped 1, bad 1, /);
    assert.equal((await booksAt(dbUrl)).length, 1);
  });
});
