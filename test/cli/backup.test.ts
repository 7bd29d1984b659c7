import assert from 'node:assert/strict';
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { backUpStore, restoreStore } from '../../src/store/sqlite/files/backups.ts';
import { runCommand, startCommand, withoutProgress } from '../../testkit/command.ts';
import { createFolder } from '../../testkit/folder.ts';
import { createBook, startService, tokenFrom } from '../../testkit/service-process.ts';
import { booksAt, putBooks } from './books.ts';

describe('bookkeeping backup', { concurrency: 2 }, () => {
  test('copies all acknowledged books while a service writes', async () => {
    await using folder = await createFolder();
    const dbUrl = `sqlite:${join(folder.path, 'data/books.db')}`;
    await putBooks(
      dbUrl,
      Array.from({ length: 10_000 }, (_, year) => ({ title: 'A'.repeat(500), author: '', year })),
    );
    await using service = await startService(folder.path);
    const token = await tokenFrom(service, folder.path);
    const acknowledged = await createBook(service, token, 'Before');
    const copying = startCommand(['backup', 'copy.db'], { folder: folder.path });
    const stderr = text(copying.stderr as NodeJS.ReadableStream);
    while (copying.exitCode === null) await createBook(service, token, 'Meanwhile');
    assert.equal(withoutProgress(await stderr), 'copied the store to copy.db and checked the copy\n');
    assert.equal(copying.exitCode, 0);
    await service.stop();

    assert.deepEqual((await readdir(folder.path)).toSorted(), ['.env', '.env.lock', 'copy.db', 'data']);
    const books = await booksAt(dbUrl);
    const copied = await booksAt(`sqlite:${join(folder.path, 'copy.db')}`);
    assert.ok(copied.length >= acknowledged);
    assert.deepEqual(copied, books.slice(0, copied.length));
  });

  test('leaves files alone that have the name of a draft of an earlier version', async () => {
    await using folder = await createFolder();
    const [path, copy] = [join(folder.path, 'books.db'), join(folder.path, 'copy.db')];
    await putBooks(`sqlite:${path}`, []);
    const drafts = [`${copy}.${process.pid}.part`, `${path}.${process.pid}.part`];
    for (const draft of drafts) await writeFile(draft, 'not ours');
    await writeFile(`${path}.before-restore-wal`, 'not ours');
    await backUpStore(path, copy, () => {});
    assert.equal(await restoreStore(path, copy, () => {}), `${path}.before-restore-2`);
    for (const file of [...drafts, `${path}.before-restore-wal`])
      assert.equal(await readFile(file, 'utf8'), 'not ours');
  });

  test('overwrites no file, and leaves none when it fails', async () => {
    await using folder = await createFolder();
    const at = (...args: string[]) => runCommand(['backup', ...args], { folder: folder.path });
    const missing = await at('copy.db');
    assert.deepEqual(
      [missing.code, missing.stderr],
      [1, 'bookkeeping: the SQLite file data/books.db does not exist\n'],
    );
    await putBooks(`sqlite:${join(folder.path, 'data/books.db')}`, []);
    await writeFile(join(folder.path, 'copy.db'), 'before');
    const there = await at('copy.db');
    assert.deepEqual(
      [there.code, there.stderr],
      [1, 'bookkeeping: copy.db is already there, and is not overwritten\n'],
    );
    assert.equal(await readFile(join(folder.path, 'copy.db'), 'utf8'), 'before');
    const nowhere = await at('nowhere/copy.db');
    assert.deepEqual(
      [nowhere.code, nowhere.stderr],
      [1, 'bookkeeping: nowhere/copy.db cannot be written (ENOENT)\n'],
    );
    assert.deepEqual((await readdir(folder.path)).toSorted(), ['copy.db', 'data']);
    assert.deepEqual(await readdir(join(folder.path, 'data')), ['books.db']);
  });

  test('refuses the names of the files that belong to the store, and writes nothing', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'data/books.db');
    const books = [{ title: 'A book', author: '', year: 0 }];
    await putBooks(`sqlite:${path}`, books);
    const before = await booksAt(`sqlite:${path}`);
    await symlink(path, join(folder.path, 'link.db'));
    const variables = { DB_URL: `sqlite:${join(folder.path, 'link.db')}` };
    for (const suffix of ['-journal', '-wal', '-shm', '-search', '-search-0123456789abcdef']) {
      for (const [file, options] of [
        [`data/books.db${suffix}`, {}],
        [`data/../data/books.db${suffix}`, { variables }],
        [`link.db${suffix}`, { variables }],
      ] as const) {
        const { code, stderr } = await runCommand(['backup', file], { folder: folder.path, ...options });
        assert.deepEqual(
          [code, stderr],
          [
            1,
            `bookkeeping: ${file} has the name of a file that SQLite or the search index keeps beside the store\n`,
          ],
        );
      }
    }
    assert.deepEqual(await readdir(join(folder.path, 'data')), ['books.db']);
    assert.deepEqual(await booksAt(`sqlite:${path}`), before);
    const other = await runCommand(['backup', 'data/books.db-2026'], { folder: folder.path });
    assert.equal(other.code, 0);
  });

  test('and a restore refuse a name of which a deleted file has left a log, which SQLite would apply, and write nothing', async () => {
    await using folder = await createFolder();
    const [path, copy] = [join(folder.path, 'books.db'), join(folder.path, 'copy.db')];
    await putBooks(`sqlite:${path}`, []);
    await backUpStore(path, `${copy}.1`, () => {});
    await writeFile(`${copy}-wal`, 'of another file');
    const error = {
      name: 'StoreNotReady',
      message: `${copy}-wal is left of another file: move it away first`,
    };
    await assert.rejects(
      backUpStore(path, copy, () => {}),
      error,
    );
    await assert.rejects(
      restoreStore(copy, `${copy}.1`, () => {}),
      error,
    );
    const copies = (await readdir(folder.path)).filter((name) => name.startsWith('copy.db'));
    assert.deepEqual(copies.toSorted(), ['copy.db-wal', 'copy.db.1']);
  });

  test('fails on a damaged store', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'data/books.db');
    await putBooks(
      `sqlite:${path}`,
      Array.from({ length: 2_000 }, (_, year) => ({ title: 'A book', author: '', year })),
    );
    const bytes = await readFile(path);
    bytes.fill(0xff, bytes.length / 2, bytes.length / 2 + 4_096);
    await writeFile(path, bytes);
    const { code, stderr } = await runCommand(['backup', 'copy.db'], { folder: folder.path });
    assert.match(stderr, /^bookkeeping: the store is damaged[^\n]+\n$/);
    assert.equal(code, 1);
    assert.deepEqual(await readdir(folder.path), ['data']);
  });

  test('names the tool for PostgreSQL', async () => {
    await using folder = await createFolder();
    const variables = { DB_URL: 'postgres://app:hunter2@db/books' };
    const { code, stderr } = await runCommand(['backup', 'copy'], { folder: folder.path, variables });
    assert.match(stderr, /^bookkeeping: [^\n]*pg_dump[^\n]*\n$/);
    assert.equal(code, 1);
  });
});
