import assert from 'node:assert/strict';
import { copyFile, mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import type { BookFields } from '../../src/book/contract.ts';
import { openConnection } from '../../src/store/sqlite/files/connection.ts';
import { type Ending, runCommand } from '../../testkit/command.ts';
import { createFolder } from '../../testkit/folder.ts';
import { createBook, startService, tokenFrom } from '../../testkit/service-process.ts';
import { booksAt, putBooks } from './books.ts';

const BOOKS: readonly BookFields[] = Array.from({ length: 2_000 }, (_, year) => ({
  title: `Book ${year}`,
  author: 'a',
  year,
}));

/** A folder with a store of 2,000 books and a backup of it. */
async function createBackup() {
  const folder = await createFolder();
  const store = join(folder.path, 'data/books.db');
  const dbUrl = `sqlite:${store}`;
  await putBooks(dbUrl, BOOKS);
  const run = (...args: string[]): Promise<Ending> => runCommand(args, { folder: folder.path });
  assert.equal((await run('backup', 'copy.db')).code, 0);
  return {
    path: folder.path,
    store,
    dbUrl,
    run,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

describe('bookkeeping restore', { concurrency: 2 }, () => {
  test('restores a backup after the service was killed, and keeps the old store', async () => {
    await using folder = await createBackup();
    const service = await startService(folder.path);
    const token = await tokenFrom(service, folder.path);
    await createBook(service, token, 'After the backup');
    service.signal('SIGKILL');
    await service.ended();
    assert.deepEqual((await readdir(join(folder.path, 'data'))).toSorted(), [
      'books.db',
      'books.db-shm',
      'books.db-wal',
    ]);
    const bytes = await readFile(join(folder.path, 'copy.db'));

    const restored = await folder.run('restore', 'copy.db');
    assert.deepEqual(restored, {
      code: 0,
      stdout: '',
      stderr:
        'restored the store from copy.db and checked it\nthe old store is data/books.db.before-restore\n',
    });
    assert.deepEqual((await readdir(join(folder.path, 'data'))).toSorted(), [
      'books.db',
      'books.db.before-restore',
    ]);
    assert.equal((await booksAt(folder.dbUrl)).length, BOOKS.length);
    assert.equal((await booksAt(`${folder.dbUrl}.before-restore`)).at(-1)?.title, 'After the backup');
    assert.deepEqual(await readFile(join(folder.path, 'copy.db')), bytes);
    assert.equal((await stat(folder.store)).mode, (await stat(`${folder.store}.before-restore`)).mode);

    const again = await folder.run('restore', 'copy.db');
    assert.match(again.stderr, /old store is data\/books\.db\.before-restore-2\n$/);
    assert.equal((await booksAt(folder.dbUrl)).length, BOOKS.length);
  });

  test('fails while a service has the store open, even an idle one', async () => {
    await using folder = await createBackup();
    await using service = await startService(folder.path);
    const rejected = await folder.run('restore', 'copy.db');
    assert.deepEqual(rejected, {
      code: 1,
      stdout: '',
      stderr:
        'bookkeeping: a service, or another program, has the SQLite file data/books.db open: stop it first\n',
    });
    const token = await tokenFrom(service, folder.path);
    await createBook(service, token, 'Afterwards');
    await service.stop();
    assert.deepEqual(await readdir(join(folder.path, 'data')), ['books.db']);
    assert.equal((await booksAt(folder.dbUrl)).length, BOOKS.length + 1);
    assert.equal((await folder.run('restore', 'copy.db')).code, 0);
  });

  test('fails on a file that is not a valid backup, and changes nothing', async () => {
    await using folder = await createBackup();
    const at = (name: string) => join(folder.path, name);
    await writeFile(at('text.db'), 'This is not a database, but a text of some length.\n'.repeat(100));
    {
      using other = new DatabaseSync(at('other.db'));
      other.exec('create table other (id integer)');
    }
    const damaged = await readFile(at('copy.db'));
    damaged.fill(0xff, damaged.length / 2, damaged.length / 2 + 4_096);
    await writeFile(at('damaged.db'), damaged);
    await writeFile(at('cut.db'), (await readFile(at('copy.db'))).subarray(0, 20_000));
    const CASES = {
      'missing.db': /the backup missing\.db does not exist/,
      'text.db': /the SQLite file text\.db cannot be opened or prepared \(SQLITE_NOTADB\)/,
      'other.db': /other\.db is not a backup of a store: there is no table books/,
      'damaged.db': /damaged\.db is damaged/,
      'cut.db': /damaged|SQLITE_CORRUPT/,
      'data/books.db': /data\/books\.db is the store itself/,
    };
    const files = (await readdir(folder.path, { recursive: true }))
      .filter((name) => !/-(wal|shm)$/.test(name))
      .toSorted();
    for (const [file, message] of Object.entries(CASES)) {
      const { code, stderr } = await folder.run('restore', file);
      assert.match(stderr, /^bookkeeping: [^\n]+\n$/, file);
      assert.match(stderr, message);
      assert.equal(code, 1, file);
      const after = (await readdir(folder.path, { recursive: true })).toSorted();
      assert.deepEqual(
        after.filter((name) => !/-(wal|shm)$/.test(name)),
        files,
        file,
      );
    }
    assert.equal((await booksAt(folder.dbUrl)).length, BOOKS.length);
  });

  test('replaces a damaged store, and creates a missing one', async () => {
    await using folder = await createBackup();
    await writeFile(folder.store, 'not a database\n'.repeat(1_000));
    assert.equal((await folder.run('restore', 'copy.db')).code, 0);
    assert.equal((await booksAt(folder.dbUrl)).length, BOOKS.length);
    assert.match(await readFile(`${folder.store}.before-restore`, 'utf8'), /^not a database/);

    const elsewhere = `sqlite:${join(folder.path, 'new/folder/books.db')}`;
    const { code, stderr } = await runCommand(['restore', 'copy.db'], {
      folder: folder.path,
      variables: { DB_URL: elsewhere },
    });
    assert.deepEqual([code, stderr], [0, 'restored the store from copy.db and checked it\n']);
    assert.equal((await booksAt(elsewhere)).length, BOOKS.length);
  });

  test('accepts a store with a write-ahead log as a backup, and does not change it', async () => {
    await using folder = await createBackup();
    await mkdir(join(folder.path, 'other'));
    const other = join(folder.path, 'other/books.db');
    await copyFile(join(folder.path, 'copy.db'), other);
    const database = await openConnection(other);
    database.exec("insert into books (title, author, year) values ('In the log', '', 0)");
    assert.equal((await folder.run('restore', other)).code, 0);
    database.close();
    assert.equal((await booksAt(folder.dbUrl)).at(-1)?.title, 'In the log');
  });

  test('names the tool for PostgreSQL', async () => {
    await using folder = await createFolder();
    const variables = { DB_URL: 'postgres://app:hunter2@db/books' };
    const { code, stderr } = await runCommand(['restore', 'copy'], { folder: folder.path, variables });
    assert.match(stderr, /^bookkeeping: [^\n]*pg_restore[^\n]*\n$/);
    assert.equal(code, 1);
  });
});

test('Opening a store fails if it is replaced meanwhile', async () => {
  await using folder = await createBackup();
  const holder = new DatabaseSync(folder.store);
  holder.exec('pragma locking_mode = exclusive; begin exclusive; commit');
  const opening = openConnection(folder.store);
  await rename(join(folder.path, 'copy.db'), folder.store);
  holder.close();
  await assert.rejects(opening, /was replaced while it was opened/);
});
