import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { YEAR_MAX } from '../../src/book/book.ts';
import { openHistory } from '../../src/history/open-history.ts';
import { parseStoreAddress } from '../../src/store/address.ts';
import { BOOKKEEPING, runCommand } from '../../testkit/command.ts';
import { createFolder } from '../../testkit/folder.ts';
import { NO_OBSERVER } from '../../testkit/no-observer.ts';
import { createDatabase } from '../../testkit/postgres.ts';
import { openStoreAt, searchAll } from '../../testkit/stores.ts';
import { readText } from '../project/files.ts';
import { booksAt, putBooks } from './books.ts';

const GUIDE = 'docs/migrating.md';

/** The code blocks under a heading of the guide, in a language. */
function blocksUnder(heading: string, language: string): string[] {
  const [, section = ''] =
    new RegExp(`^## ${heading}\n(.*?)(?=^## |$(?![^]))`, 'ms').exec(readText(GUIDE)) ?? [];
  const blocks = [...section.matchAll(new RegExp(`^ *\`\`\`${language}\n(.*?)^ *\`\`\``, 'gms'))];
  return blocks.map(([, block = '']) => block);
}

/** Runs commands in a shell, with our command in place of the one of npx. @returns standard output */
async function typeIn(folder: string, commands: string): Promise<string> {
  const npx = `npx() { shift; '${process.execPath}' '${BOOKKEEPING}' "$@"; }\nset -e\n`;
  const { stdout } = await promisify(execFile)('sh', ['-c', npx + commands], {
    cwd: folder,
    env: { PATH: process.env.PATH },
  });
  return stdout;
}

const BOOKS = Array.from({ length: 700 }, (_, year) => ({ title: `Book ${year}`, author: '', year }));
const ANY_URL = 'postgres://user:password@host:5432/database';

describe('docs/migrating.md', { concurrency: 2 }, () => {
  let toPostgres: readonly string[];
  let fromFile: readonly string[];
  before(() => {
    toPostgres = blocksUnder('From SQLite to PostgreSQL', 'sh');
    fromFile = blocksUnder('From a file', 'sh');
  });

  test('migrates books with their ids from SQLite to PostgreSQL, with a file and without', async () => {
    assert.equal(toPostgres.length, 2);
    for (const commands of toPostgres) {
      assert.ok(commands.includes(ANY_URL));
      await using folder = await createFolder();
      await using database = await createDatabase();
      const sqlite = `sqlite:${join(folder.path, 'data/books.db')}`;
      await putBooks(sqlite, BOOKS);
      {
        await using store = await openStoreAt(sqlite);
        await store.delete(5);
      }
      await typeIn(folder.path, commands.replaceAll(ANY_URL, `'${database.url}'`));
      assert.deepEqual(await booksAt(database.url), await booksAt(sqlite));
    }
  });

  test('imports a file with mapped columns, each row once', async () => {
    assert.equal(fromFile.length, 1);
    await using folder = await createFolder();
    await writeFile(
      join(folder.path, 'list.csv'),
      'book_id,authors,printed,original_title\n1,Suzanne Collins,2008.0,The Hunger Games\n2,Homer,-750.0,Ἰλιάς\n',
    );
    const stdout = await typeIn(folder.path, fromFile.join(''));
    assert.match(
      stdout,
      /\nread 2, would store 2,.*\nread 2, stored 2, skipped 0, bad 0,.*\nread 2, stored 0, skipped 2, bad 0,.*\n$/,
    );
  });

  test('uses a table of GORM v1, also after its columns are widened', async () => {
    await using folder = await createFolder();
    await using database = await createDatabase();
    await database.query('create table books (id serial primary key, title text, author text, year integer)');
    await database.query("insert into books (title, year) values ('The Iliad', -750)");
    const variables = {
      DB_URL: database.url,
      SECRET_TOKEN: 'k'.repeat(32),
      AUTH_PASSWORD: 'hunter2',
    };
    const check = () => runCommand(['check'], { folder: folder.path, variables });
    assert.match((await check()).stdout, /store: ok; [^\n]* 1 book\n$/);

    const [sql = ''] = blocksUnder('From the Go service', 'sql');
    await database.query(sql);
    assert.match((await check()).stdout, /store: ok; [^\n]* 1 book\n$/);
    // The sequence of a serial column ends at 2147483647 by default.
    await database.query("select setval('books_id_seq', 2147483647)");
    await using store = await openStoreAt(database.url);
    const book = await store.create({ title: 'The Odyssey', author: '', year: YEAR_MAX });
    assert.equal(book.id, 2_147_483_648);
  });

  test('uses a table of GORM with deleted rows after these are moved', async () => {
    await using folder = await createFolder();
    await using database = await createDatabase();
    await database.query(
      'create table books (id bigserial primary key, created_at timestamptz, deleted_at timestamptz, title text, author text, year bigint)',
    );
    await database.query(
      "insert into books (title, deleted_at) values ('The Iliad', null), ('A mistake', now())",
    );
    const variables = {
      DB_URL: database.url,
      SECRET_TOKEN: 'k'.repeat(32),
      AUTH_PASSWORD: 'hunter2',
    };
    const check = () => runCommand(['check'], { folder: folder.path, variables });
    assert.match(
      (await check()).stdout,
      /store: ok; [^\n]* 2 books; deleted_at marks 1 book as deleted, [^\n]* see docs\/migrating\.md\n$/,
    );

    const [, sql = ''] = blocksUnder('From the Go service', 'sql');
    await database.query(sql);
    assert.match((await check()).stdout, /store: ok; [^\n]* 1 book\n$/);
    assert.deepEqual(
      (await booksAt(database.url)).map(({ title }) => title),
      ['The Iliad'],
    );
    assert.deepEqual(await database.query('select title from deleted_books'), [{ title: 'A mistake' }]);
  });

  test('has values of DB_URL that the service accepts', () => {
    const addresses = [...readText(GUIDE).matchAll(/\bDB_URL=("[^"]+"|[^\s`]+)/g)].map(
      ([, text = '']) => text,
    );
    assert.ok(addresses.length >= 5);
    const engines = addresses.map((address) => parseStoreAddress(address.replaceAll('"', '')).engine);
    assert.deepEqual(new Set(engines), new Set(['postgres', 'sqlite']));
  });

  test('uses a table of GORM, and removes everything that was added, also to a partition', async () => {
    for (const isPartitioned of [false, true]) {
      await using folder = await createFolder();
      await using database = await createDatabase();
      await database.query(
        `create table books (id bigserial primary key, title text, author text, year bigint) ${isPartitioned ? 'partition by range (id)' : ''}`,
      );
      if (isPartitioned) await database.query('create table books_1 partition of books default');
      await database.query("insert into books (title, year) values ('The Iliad', -750)");
      const objects = `
        select 'column' as kind, table_name || '.' || column_name || coalesce(column_default, '') as name
          from information_schema.columns where table_schema = 'public'
        union all select 'relation', relname from pg_class where relnamespace = 'public'::regnamespace
        union all select 'constraint', conname from pg_constraint where connamespace = 'public'::regnamespace
        union all select 'function', proname from pg_proc where pronamespace = 'public'::regnamespace
        union all select 'trigger', tgname from pg_trigger where not tgisinternal
        order by 1, 2`;
      const made = await database.query(objects);
      const { hostname, port, username, password, pathname } = new URL(database.url);
      const words = `host=${hostname} user=${username} password=${password} dbname=${pathname.slice(1)} port=${port} sslmode=disable TimeZone=UTC`;
      const variables = { SECRET_TOKEN: 'k'.repeat(32), AUTH_PASSWORD: 'hunter2', DB_URL: words };
      const { code, stdout } = await runCommand(['check'], { folder: folder.path, variables });
      assert.match(stdout, /^configuration: ok\nstore: ok; [^\n]* 1 book\n$/);
      assert.equal(code, 0);
      assert.deepEqual(await database.query(objects), made);

      await useEverything(words, 90);
      assert.ok((await database.query(objects)).length > made.length + 20);
      const [, , sql = ''] = blocksUnder('From the Go service', 'sql');
      await database.query(sql);
      assert.deepEqual(await database.query(objects), made);
    }
  });

  test('uses a file of GORM, and removes everything that was added', async () => {
    for (const days of [undefined, 90]) {
      await using folder = await createFolder();
      const path = join(folder.path, 'books.db');
      using database = new DatabaseSync(path);
      database.exec(
        'create table books (id integer primary key autoincrement, title text, author text, year integer)',
      );
      database.exec("insert into books (title, year) values ('The Iliad', -750)");
      const objects = () => database.prepare('select type, name, sql from sqlite_schema order by 1, 2').all();
      const made = objects();
      await useEverything(`sqlite:${path}`, days);
      assert.ok(objects().length > made.length + 6);
      const [, , , sql = ''] = blocksUnder('From the Go service', 'sql');
      database.exec(sql);
      assert.deepEqual(objects(), made);
      assert.ok(readText(GUIDE).includes('delete the file `books.db-search`'));
      assert.deepEqual(
        (await readdir(folder.path)).filter((name) => !/^books\.db(-wal|-shm|-search)?$/.test(name)),
        [],
      );
    }
  });
});

/** Makes the service add all its tables, triggers and functions to a store. @param days of the history, unless it is off */
async function useEverything(dbUrl: string, days: number | undefined): Promise<void> {
  await using store = await openStoreAt(dbUrl);
  const history = await openHistory(store.connection, days, NO_OBSERVER);
  const all = { sort: 'title', isDescending: false, yearFrom: -YEAR_MAX, yearTo: YEAR_MAX } as const;
  assert.equal((await searchAll(store, all, 10)).length, 1);
  await history?.[Symbol.asyncDispose]();
}
