import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { openConnection } from '../../src/store/sqlite/files/connection.ts';
import { engines } from '../../testkit/engines.ts';
import { createFolder } from '../../testkit/folder.ts';
import { findFreePort } from '../../testkit/free-port.ts';
import { createDatabase } from '../../testkit/postgres.ts';
import { assertNotReady, listBooks, openStoreAt } from '../../testkit/stores.ts';

const PROCESSES = 8;

for (const engine of engines) {
  describe(`Opening a store on ${engine.name}`, () => {
    test(`succeeds in ${PROCESSES} processes that prepare an empty store concurrently`, async () => {
      await using address = await engine.createAddress();
      const titles = Array.from({ length: PROCESSES }, (_, index) => `Volume ${index}`);
      const openers = titles.map((title) =>
        fork(join(import.meta.dirname, 'opening-process.ts'), [address.dbUrl, title]),
      );
      const endings = openers.map((opener) => once(opener, 'exit'));
      await Promise.all(openers.map((opener) => once(opener, 'message')));
      for (const opener of openers) opener.send('open');

      for (const [exitCode] of await Promise.all(endings)) assert.equal(exitCode, 0);
      await using store = await openStoreAt(address.dbUrl);
      const books = await listBooks(store);
      assert.deepEqual(books.map(({ title }) => title).toSorted(), titles.toSorted());
      assert.equal(new Set(books.map(({ id }) => id)).size, PROCESSES);
    });

    test('keeps the books of earlier starts', async () => {
      await using address = await engine.createAddress();
      for (let restart = 0; restart < 3; restart++) {
        await using store = await openStoreAt(address.dbUrl);
        assert.equal((await listBooks(store)).length, restart);
        await store.create({ title: 'Dune', author: 'Frank Herbert', year: 1965 });
      }
    });
  });
}

describe('Opening a SQLite file', () => {
  test('creates the folders above it', async () => {
    await using folder = await createFolder();
    await using store = await openStoreAt(`sqlite:${join(folder.path, 'a', 'b', 'books.db')}`);

    assert.deepEqual(await listBooks(store), []);
  });

  test('uses a write-ahead log that is synced at every commit', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await using store = await openStoreAt(`sqlite:${path}`);
    await store.create({ title: '', author: '', year: 0 });

    using observer = new DatabaseSync(path);
    assert.equal(observer.prepare('pragma journal_mode').get()?.journal_mode, 'wal');
    using connection = await openConnection(path);
    assert.equal(connection.prepare('pragma synchronous').get()?.synchronous, 2);
  });

  test('fails when it is not a database, and keeps it unchanged', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    const garbage = 'This is a shopping list, not a database. '.repeat(1_000);
    await writeFile(path, garbage);

    await assertNotReady(`sqlite:${path}`, /books\.db.*SQLITE_NOTADB/);
    assert.equal(await readFile(path, 'utf8'), garbage);
  });

  test('fails when the path is a folder, or its folder is a file', async () => {
    await using folder = await createFolder();
    await mkdir(join(folder.path, 'books.db'));
    await writeFile(join(folder.path, 'file'), '');

    await assertNotReady(`sqlite:${join(folder.path, 'books.db')}`, /books\.db/);
    await assertNotReady(`sqlite:${join(folder.path, 'file', 'books.db')}`, /books\.db/);
  });
});

describe('Opening a SQLite file without write permission', () => {
  test('fails with the reason, and creates no read-only files', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await (await openStoreAt(`sqlite:${path}`))[Symbol.asyncDispose]();
    await chmod(folder.path, 0o777);
    await chmod(path, 0o444);

    assert.match(
      await openUnprivileged(path),
      /the store is read-only: .*books\.db cannot be written \(EACCES\)/,
    );
    assert.deepEqual(await readdir(folder.path), ['books.db']);
    await chmod(path, 0o666);
    await using store = await openStoreAt(`sqlite:${path}`);
    assert.equal((await store.create({ title: '', author: '', year: 0 })).id, 1);
  });

  for (const ending of ['-wal', '-shm']) {
    test(`reports that the ${ending} file is read-only`, async () => {
      await using folder = await createFolder();
      const path = join(folder.path, 'books.db');
      await (await openStoreAt(`sqlite:${path}`))[Symbol.asyncDispose]();
      await writeFile(path + ending, '', { mode: 0o444 });
      await chmod(folder.path, 0o777);
      await chmod(path, 0o666);

      assert.match(
        await openUnprivileged(path),
        new RegExp(`read-only: .*books\\.db${ending} cannot be written`),
      );
    });
  }

  test('fails when its folder is read-only, with the reason', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await (await openStoreAt(`sqlite:${path}`))[Symbol.asyncDispose]();
    await chmod(path, 0o666);
    await chmod(folder.path, 0o555);
    const reason =
      /the folder \S+ cannot be written \(EACCES\), and SQLite creates files in it beside the store/;
    assert.match(await openUnprivileged(path), reason);
    // So is a link in another folder.
    await using other = await createFolder();
    await chmod(other.path, 0o777);
    await symlink(path, join(other.path, 'link.db'));
    assert.match(await openUnprivileged(join(other.path, 'link.db')), reason);
    await chmod(folder.path, 0o777);
    assert.equal(await openUnprivileged(path), 'opened');
  });

  test('fails when its folder cannot be created', async () => {
    assert.match(await openUnprivileged('/proc/x/y/books.db'), /\/proc\/x\/y\/books\.db cannot be opened/);
  });
});

/** Opens a SQLite file in an unprivileged process. @returns its error, or `opened` */
async function openUnprivileged(path: string): Promise<string> {
  const opener = fork(join(import.meta.dirname, 'unprivileged-opener.ts'), [path], {
    timeout: 300_000,
  });
  const [[ending]] = await Promise.all([
    Promise.race([once(opener, 'message'), once(opener, 'exit')]),
    once(opener, 'exit'),
  ]);
  return String(ending);
}

describe('Opening a PostgreSQL database', () => {
  test('creates the tables of books and of migrations in the schema public', async () => {
    await using database = await createDatabase();
    await using store = await openStoreAt(database.url);
    await store.create({ title: '', author: '', year: 0 });

    const tables = await database.query(
      "select schemaname, tablename from pg_tables where tablename like '%book%'",
    );
    assert.deepEqual(tables.map(({ schemaname, tablename }) => `${schemaname}.${tablename}`).toSorted(), [
      'public.bookkeeping_migrations',
      'public.books',
    ]);
  });

  test('fails when the connection is refused', async () => {
    await assertNotReady(`postgres://app:secret@127.0.0.1:${await findFreePort()}/books`, /ECONNREFUSED/);
  });

  test('fails when the server does not respond', { timeout: 300_000 }, async () => {
    await using server = createServer((socket) => socket.on('error', () => {}).resume()).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    const address = server.address();
    assert.ok(address && typeof address === 'object');

    await assertNotReady(`postgres://app:secret@127.0.0.1:${address.port}/books`, /cannot be reached/);
  });

  test('fails when the password is wrong, or the database does not exist', async () => {
    await using database = await createDatabase();
    const wrongPassword = Object.assign(new URL(database.url), { password: 'secret' }).href;
    const wrongName = Object.assign(new URL(database.url), { pathname: 'nowhere' }).href;

    await assertNotReady(wrongPassword, /password/);
    await assertNotReady(wrongName, /nowhere/);
  });

  for (const encoding of ['LATIN1', 'SQL_ASCII'] as const) {
    test(`fails when its encoding is ${encoding}`, async () => {
      await using database = await createDatabase({ encoding });

      await assertNotReady(database.url, new RegExp(`UTF8|${encoding}`));
      assert.deepEqual(await database.query("select 1 from pg_tables where tablename = 'books'"), []);
    });
  }
});
