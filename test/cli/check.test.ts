import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { startService } from '../process/service-process.ts';
import { engines } from '../support/engines.ts';
import { createFolder } from '../support/folder.ts';
import { createDatabase } from '../support/postgres.ts';
import { openStoreAt } from '../support/stores.ts';
import { type Ending, runCommand } from './command.ts';

const SECRETS = { SECRET_TOKEN: 'k'.repeat(32), AUTH_PASSWORD: 'hunter2' };

/** Checks, and asserts that no secret is told. */
async function check(folder: string, variables: Readonly<Record<string, string>>): Promise<Ending> {
  const ending = await runCommand(['check'], { folder, variables });
  assert.doesNotMatch(ending.output + ending.complaints, /kkkk|hunter2/);
  assert.equal(ending.complaints, '');
  return ending;
}

for (const engine of engines) {
  describe(`bookkeeping check on ${engine.name}`, { concurrency: 2 }, () => {
    test('tells of a place without books, and leaves it so', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      for (let attempt = 1; attempt <= 2; attempt++) {
        const { code, output } = await check(folder.path, { ...SECRETS, DB_URL: address.dbUrl });
        assert.match(output, /^configuration: ok\nstore: ok; [^\n]+ yet, and will (be made|get one)\n$/);
        assert.equal(code, 0);
      }
      assert.deepEqual(await readdir(folder.path), []);
    });

    test('counts the books, also beside a service', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      const variables = { ...SECRETS, DB_URL: address.dbUrl };
      await using service = await startService(folder.path, variables);
      assert.match((await check(folder.path, variables)).output, /store: ok; [^\n]+ has 0 books\n$/);
      await using store = await openStoreAt(address.dbUrl);
      await store.create({ title: 'The Iliad', author: 'Homer', year: -750 });
      assert.match((await check(folder.path, variables)).output, /store: ok; [^\n]+ has 1 book\n$/);
      await service.stop();
    });
  });
}

describe('bookkeeping check finds', { concurrency: 2 }, () => {
  test('all faults of a configuration, without a value', async () => {
    await using folder = await createFolder();
    const { code, output } = await check(folder.path, {
      PORT: 'hunter2',
      DB_URL: 'hunter2://',
      NODE_ENV: 'production',
    });
    assert.match(
      output,
      /^configuration: PORT: [^\n]+; DB_URL: [^\n]+; SECRET_TOKEN: [^\n]+; AUTH_PASSWORD: [^\n]+\n$/,
    );
    assert.equal(code, 1);
  });

  test('secrets that are yet to be generated, and a weak one', async () => {
    await using folder = await createFolder();
    assert.match(
      (await check(folder.path, {})).output,
      /^configuration: ok; SECRET_TOKEN and AUTH_PASSWORD will be/,
    );
    await writeFile(join(folder.path, '.env'), 'SECRET_TOKEN=hunter2\nAUTH_PASSWORD=hunter2\n');
    assert.match(
      (await check(folder.path, {})).output,
      /^configuration: ok; SECRET_TOKEN is shorter than 32 bytes\n/,
    );
    assert.deepEqual(await readdir(folder.path), ['.env']);
  });

  test('a SQLite file that is none, one with another table, and a folder', async () => {
    await using folder = await createFolder();
    await writeFile(join(folder.path, 'list.db'), 'This is a shopping list. '.repeat(1_000));
    await mkdir(join(folder.path, 'folder.db'));
    using other = new DatabaseSync(join(folder.path, 'other.db'));
    other.exec('create table books (id integer primary key autoincrement, name text)');
    const complaints = {
      'list.db': /^store: the SQLite file list\.db .*\(SQLITE_NOTADB\)$/m,
      'folder.db': /^store: the SQLite file folder\.db .*\(SQLITE_[A-Z]+\)$/m,
      'other.db': /^store: the table books has no column title$/m,
    };
    for (const [file, complaint] of Object.entries(complaints)) {
      const { code, output } = await check(folder.path, { ...SECRETS, DB_URL: `sqlite:${file}` });
      assert.match(output, complaint);
      assert.equal(code, 1);
    }
    assert.equal((await readFile(join(folder.path, 'list.db'))).length, 25_000);
  });

  test('a PostgreSQL server that is not there, a table that does not fit, and privileges that are missing', async () => {
    await using folder = await createFolder();
    const nowhere = await check(folder.path, {
      ...SECRETS,
      DB_URL: 'postgres://app:hunter2@127.0.0.1:1/books',
    });
    assert.match(nowhere.output, /^store: PostgreSQL .* cannot be reached \(ECONNREFUSED\)$/m);
    assert.equal(nowhere.code, 1);

    await using database = await createDatabase();
    const variables = { ...SECRETS, DB_URL: database.url };
    await database.query('create table books (id bigserial primary key, title text, author text, year text)');
    const misfit = await check(folder.path, variables);
    assert.match(misfit.output, /^store: the column year of the table books is text, not bigint$/m);
    await database.query('alter table books alter year type bigint using 0');
    assert.match((await check(folder.path, variables)).output, /has 0 books$/m);

    const role = `reader_${Math.random().toString(36).slice(2)}`;
    await database.query(`create role ${role} login password 'hunter2'; grant select on books to ${role}`);
    const DB_URL = Object.assign(new URL(database.url), { username: role, password: 'hunter2' }).href;
    const reader = await check(folder.path, { ...SECRETS, DB_URL });
    await database.query(`drop owned by ${role}; drop role ${role}`);
    assert.match(reader.output, /^store: this user may not insert, update, delete in the table books$/m);
  });
});
