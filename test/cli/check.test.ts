import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { type Ending, runCommand } from '../../testkit/command.ts';
import { engines } from '../../testkit/engines.ts';
import { createFolder } from '../../testkit/folder.ts';
import { createDatabase } from '../../testkit/postgres.ts';
import { startService } from '../../testkit/service-process.ts';
import { openStoreAt } from '../../testkit/stores.ts';

const SECRETS = { SECRET_TOKEN: 'k'.repeat(32), AUTH_PASSWORD: 'hunter2' };

/** Runs `check`, and asserts that it prints no secret. */
async function check(folder: string, variables: Readonly<Record<string, string>>): Promise<Ending> {
  const ending = await runCommand(['check'], { folder, variables });
  assert.doesNotMatch(ending.stdout + ending.stderr, /kkkk|hunter2/);
  assert.equal(ending.stderr, '');
  return ending;
}

for (const engine of engines) {
  describe(`bookkeeping check on ${engine.name}`, { concurrency: 2 }, () => {
    test('reports a missing store, and does not create it', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      for (let attempt = 1; attempt <= 2; attempt++) {
        const { code, stdout } = await check(folder.path, { ...SECRETS, DB_URL: address.dbUrl });
        assert.match(stdout, /^configuration: ok\nstore: ok; [^\n]+ yet(?: and|; it) will be created\n$/);
        assert.equal(code, 0);
      }
      assert.deepEqual(await readdir(folder.path), []);
    });

    test('counts the books, also while a service runs', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      const variables = { ...SECRETS, DB_URL: address.dbUrl };
      await using service = await startService(folder.path, variables);
      assert.match((await check(folder.path, variables)).stdout, /store: ok; [^\n]+ has 0 books\n$/);
      await using store = await openStoreAt(address.dbUrl);
      await store.create({ title: 'The Iliad', author: 'Homer', year: -750 });
      assert.match((await check(folder.path, variables)).stdout, /store: ok; [^\n]+ has 1 book\n$/);
      const { stdout } = await runCommand(['check', '--json'], { folder: folder.path, variables });
      assert.partialDeepStrictEqual(JSON.parse(stdout), { ok: true, configuration: 'ok' });
      await service.stop();
    });
  });
}

describe('bookkeeping check reports', { concurrency: 2 }, () => {
  test('all errors of a configuration, without values', async () => {
    await using folder = await createFolder();
    const { code, stdout } = await check(folder.path, {
      PORT: 'hunter2',
      DB_URL: 'hunter2://',
      NODE_ENV: 'production',
    });
    assert.match(
      stdout,
      /^configuration: PORT: [^\n]+; DB_URL: [^\n]+; SECRET_TOKEN: [^\n]+; AUTH_PASSWORD: [^\n]+\n$/,
    );
    assert.equal(code, 1);
  });

  test('secrets that will be generated, and a weak one', async () => {
    await using folder = await createFolder();
    assert.match(
      (await check(folder.path, {})).stdout,
      /^configuration: ok; SECRET_TOKEN and AUTH_PASSWORD will be/,
    );
    await writeFile(join(folder.path, '.env'), 'SECRET_TOKEN=hunter2\nAUTH_PASSWORD=hunter2\n');
    assert.match(
      (await check(folder.path, {})).stdout,
      /^configuration: ok; SECRET_TOKEN is shorter than 32 bytes\n/,
    );
    assert.deepEqual(await readdir(folder.path), ['.env']);
  });

  test('a file that is not SQLite, one with another table, and a folder', async () => {
    await using folder = await createFolder();
    await writeFile(join(folder.path, 'list.db'), 'This is a shopping list. '.repeat(1_000));
    await mkdir(join(folder.path, 'folder.db'));
    using other = new DatabaseSync(join(folder.path, 'other.db'));
    other.exec('create table books (id integer primary key autoincrement, name text)');
    const messages = {
      'list.db': /^store: the SQLite file list\.db .*\(SQLITE_NOTADB\)$/m,
      'folder.db': /^store: the SQLite file folder\.db .*\(SQLITE_[A-Z]+\)$/m,
      'other.db': /^store: the table books has no column title$/m,
    };
    for (const [file, message] of Object.entries(messages)) {
      const { code, stdout } = await check(folder.path, { ...SECRETS, DB_URL: `sqlite:${file}` });
      assert.match(stdout, message);
      assert.equal(code, 1);
    }
    assert.equal((await readFile(join(folder.path, 'list.db'))).length, 25_000);
  });

  test('rows of SQLite that GORM has marked as deleted', async () => {
    await using folder = await createFolder();
    using database = new DatabaseSync(join(folder.path, 'books.db'));
    database.exec(`
      create table books (id integer primary key autoincrement, deleted_at datetime, title text, author text, year integer);
      insert into books (title, deleted_at) values ('The Iliad', null), ('A mistake', '2026-11-22');
    `);
    const { code, stdout } = await check(folder.path, { ...SECRETS, DB_URL: 'sqlite:books.db' });
    assert.match(
      stdout,
      / has 2 books; deleted_at marks 1 book as deleted, [^\n]* see docs\/migrating\.md\n$/,
    );
    assert.equal(code, 0);
  });

  test('an unreachable PostgreSQL server, a table with other columns, and missing privileges', async () => {
    await using folder = await createFolder();
    const nowhere = await check(folder.path, {
      ...SECRETS,
      DB_URL: 'postgres://app:hunter2@127.0.0.1:1/books',
    });
    assert.match(nowhere.stdout, /^store: PostgreSQL .* cannot be reached \(ECONNREFUSED\)$/m);
    assert.equal(nowhere.code, 1);

    await using database = await createDatabase();
    const variables = { ...SECRETS, DB_URL: database.url };
    await database.query('create table books (id bigserial primary key, title text, author text, year text)');
    const misfit = await check(folder.path, variables);
    assert.match(misfit.stdout, /^store: the column year of the table books is text, not bigint$/m);
    await database.query('alter table books alter year type bigint using 0');
    assert.match((await check(folder.path, variables)).stdout, /has 0 books$/m);

    const role = `reader_${Math.random().toString(36).slice(2)}`;
    await database.query(`create role ${role} login password 'hunter2'; grant select on books to ${role}`);
    const DB_URL = Object.assign(new URL(database.url), { username: role, password: 'hunter2' }).href;
    const reader = await check(folder.path, { ...SECRETS, DB_URL });
    await database.query(`drop owned by ${role}; drop role ${role}`);
    assert.match(
      reader.stdout,
      /^store: the table books cannot be used \(permission denied for table books\)$/m,
    );
    assert.equal(reader.code, 1);
  });
});
