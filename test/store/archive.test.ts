import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { ID_MAX, YEAR_MAX } from '../../src/book/book.ts';
import { TableRejection } from '../../src/book/book-store.ts';
import type { Book } from '../../src/book/contract.ts';
import type { BookArchive } from '../../src/store/book-archive.ts';
import { StoreNotReady } from '../../src/store/errors.ts';
import { engines } from '../../testkit/engines.ts';
import { createFolder } from '../../testkit/folder.ts';
import { query } from '../../testkit/sql.ts';
import { engineAt, listBooks, openArchiveAt, openStoreAt } from '../../testkit/stores.ts';
import { SPECIAL_TEXTS } from './texts.ts';

/** All books of an archive. */
async function read(archive: BookArchive): Promise<Book[]> {
  const books: Book[] = [];
  for await (const page of archive.pages())
    books.push(...(JSON.parse(`[${Buffer.from(page).toString()}]`) as Book[]));
  return books;
}

function bookOf(id: number, title = `Book ${id}`): Book {
  return { id, title, author: 'Anybody', year: id };
}

for (const engine of engines) {
  describe(`BookArchive on ${engine.name}`, { concurrency: 2 }, () => {
    test('add stores books of any text under new ids in their order, and pages returns them', async () => {
      await using address = await engine.createAddress();
      await using archive = await openArchiveAt(address.dbUrl);
      const books = Object.values(SPECIAL_TEXTS).map((text, index) => ({
        title: text,
        author: text,
        year: index % 2 ? YEAR_MAX : -YEAR_MAX,
      }));
      await archive.add(books);
      await archive.add([]);
      const expected = books.map((fields, index) => ({ id: index + 1, ...fields }));
      assert.deepEqual(await read(archive), expected);
      await using store = await openStoreAt(address.dbUrl);
      assert.deepEqual(await listBooks(store), expected);
    });

    test('pages returns a snapshot while other processes write', async () => {
      await using address = await engine.createAddress();
      await using archive = await openArchiveAt(address.dbUrl);
      const books = Array.from({ length: 1_234 }, (_, index) => bookOf(index + 1));
      await archive.add(books);
      await using store = await openStoreAt(address.dbUrl);
      await using reader = await (await engineAt(address.dbUrl)).openArchiveForReading();
      const seen: Book[] = [];
      for await (const page of reader.pages()) {
        seen.push(...(JSON.parse(`[${Buffer.from(page).toString()}]`) as Book[]));
        await store.update(1_200, { title: 'Changed' });
        await store.delete(1_201);
        await store.create({ title: 'New', author: '', year: 0 });
      }
      assert.deepEqual(seen, books);
      assert.notDeepEqual(await read(reader), books);
    });

    test('addWithIds stores the ids, and no later book gets one of them', async () => {
      await using address = await engine.createAddress();
      await using archive = await openArchiveAt(address.dbUrl);
      await using store = await openStoreAt(address.dbUrl);
      const first = await store.create({ title: 'First', author: '', year: 0 });
      assert.deepEqual(await archive.addWithIds([bookOf(500), bookOf(7), bookOf(6)]), [
        'stored',
        'stored',
        'stored',
      ]);
      assert.equal((await store.create({ title: 'Next', author: '', year: 0 })).id, 501);
      await store.delete(501);
      await archive.addWithIds([bookOf(300)]);
      assert.equal((await store.create({ title: 'Last', author: '', year: 0 })).id, 502);
      assert.deepEqual(
        (await read(archive)).map(({ id }) => id),
        [first.id, 6, 7, 300, 500, 502],
      );
    });

    test('addWithIds never overwrites a book, and distinguishes identical books from others', async () => {
      await using address = await engine.createAddress();
      await using archive = await openArchiveAt(address.dbUrl);
      await archive.addWithIds([bookOf(1), bookOf(2)]);
      const books = [bookOf(2), bookOf(1, 'Another'), bookOf(3), bookOf(3), bookOf(3, 'Another'), bookOf(4)];
      const outcomes = ['present', 'taken', 'stored', 'present', 'taken', 'stored'];
      assert.deepEqual(await archive.addWithIds(books), outcomes);
      assert.deepEqual(await read(archive), [bookOf(1), bookOf(2), bookOf(3), bookOf(4)]);
    });

    test('update leaves what another program has stored in fields that do not change', async () => {
      await using address = await engine.createAddress();
      const key = engine.name === 'SQLite' ? 'integer primary key autoincrement' : 'bigserial primary key';
      await query(address.dbUrl, `create table books (id ${key}, title text, author text, year bigint)`);
      await using archive = await openArchiveAt(address.dbUrl);
      await query(address.dbUrl, "insert into books (author, year) values ('A', 9007199254740993)");
      const [before] = await archive.find([1]);
      assert.deepEqual(before, { id: 1, title: '', author: 'A', year: YEAR_MAX });
      assert.deepEqual(await archive.update([{ before, after: { ...before, author: 'B' } }]), [true]);
      const [row] = await query(address.dbUrl, 'select title, author, cast(year as text) as year from books');
      assert.deepEqual({ ...row }, { title: null, author: 'B', year: '9007199254740993' });
    });

    test('find returns books by their ids, and update changes those that are still as expected', async () => {
      await using address = await engine.createAddress();
      await using archive = await openArchiveAt(address.dbUrl);
      await archive.addWithIds([bookOf(1), bookOf(2), bookOf(3)]);
      assert.deepEqual(await archive.find([3, 9, 1]), [bookOf(3), undefined, bookOf(1)]);
      assert.deepEqual(await archive.find([]), []);
      const changes = [
        { before: bookOf(3), after: { ...bookOf(3, 'Third'), author: '', year: 0 } },
        { before: bookOf(2, 'Another'), after: bookOf(2, 'Lost') },
        { before: bookOf(9), after: bookOf(9, 'Deleted') },
        { before: bookOf(1), after: bookOf(1, 'First') },
      ];
      assert.deepEqual(await archive.update(changes), [true, false, false, true]);
      assert.deepEqual(await archive.update(changes), [false, false, false, false]);
      assert.deepEqual(await archive.update([]), []);
      assert.deepEqual(await read(archive), [
        bookOf(1, 'First'),
        bookOf(2),
        { id: 3, title: 'Third', author: '', year: 0 },
      ]);
      await using store = await openStoreAt(address.dbUrl);
      await archive.begin();
      await archive.update([{ before: bookOf(2), after: bookOf(2, 'Second') }]);
      assert.deepEqual(await store.find(2), bookOf(2));
      await archive.commit();
      assert.deepEqual(await store.find(2), bookOf(2, 'Second'));
    });

    test('addWithIds stores the largest id; after it, add rejects because no id is left', async () => {
      await using address = await engine.createAddress();
      await using archive = await openArchiveAt(address.dbUrl);
      await archive.addWithIds([bookOf(ID_MAX)]);
      await assert.rejects(archive.add([bookOf(0)]), TableRejection);
      await using store = await openStoreAt(address.dbUrl);
      await assert.rejects(store.create({ title: '', author: '', year: 0 }), TableRejection);
      assert.deepEqual(await read(archive), [bookOf(ID_MAX)]);
    });

    for (const isKept of [true, false]) {
      test(`begin and commit store all or nothing, with ${isKept ? 'existing' : 'new'} ids`, async () => {
        await using address = await engine.createAddress();
        await using store = await openStoreAt(address.dbUrl);
        {
          await using archive = await openArchiveAt(address.dbUrl);
          await archive.begin();
          if (isKept) await archive.addWithIds([bookOf(100)]);
          else await archive.add([bookOf(100)]);
          assert.deepEqual(await listBooks(store), []);
        }
        assert.deepEqual(await listBooks(store), []);

        await using archive = await openArchiveAt(address.dbUrl);
        await archive.begin();
        for (const id of [1_000, 1_001]) {
          if (isKept) await archive.addWithIds([bookOf(id)]);
          else await archive.add([bookOf(id)]);
        }
        assert.deepEqual(await listBooks(store), []);
        await archive.commit();
        const ids = (await listBooks(store)).map(({ id }) => id);
        assert.equal(ids.length, 2);
        assert.equal((await store.create({ title: '', author: '', year: 0 })).id, (ids[1] ?? 0) + 1);
      });
    }

    test('adds books while a service writes, and searches of the service find them', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const conditions = {
        sort: 'title',
        isDescending: false,
        q: 'ithaca',
        yearFrom: -YEAR_MAX,
        yearTo: YEAR_MAX,
      } as const;
      const found = async () => {
        const { json } = await store.search(conditions, 100);
        return (JSON.parse(`[${Buffer.from(json).toString()}]`) as Book[]).map(({ id }) => id);
      };
      assert.deepEqual(await found(), []);
      await using archive = await openArchiveAt(address.dbUrl);
      await Promise.all([
        archive.add([bookOf(0, 'Ithaca 1')]),
        store.create({ title: 'Ithaca 2', author: '', year: 0 }),
      ]);
      await archive.addWithIds([bookOf(90, 'Ithaca 3'), bookOf(50, 'Ithaca 4')]);
      await archive.addWithIds([bookOf(40, 'Ithaca 5')]);
      assert.deepEqual(
        (await found()).toSorted((one, other) => one - other),
        [1, 2, 40, 50, 90],
      );
    });

    test('openArchiveForReading rejects when there is no store, and creates nothing', async () => {
      await using address = await engine.createAddress();
      for (let attempt = 1; attempt <= 2; attempt++) {
        await assert.rejects((await engineAt(address.dbUrl)).openArchiveForReading(), (error) => {
          assert.ok(error instanceof StoreNotReady);
          assert.match(error.message, /does not exist|there is no table books/);
          return true;
        });
      }
    });
  });
}

test('BookArchive on SQLite leaves all books in the file alone, also beside another process that has it open', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'books.db');
  const archive = await openArchiveAt(`sqlite:${path}`);
  await archive.add([bookOf(1)]);
  using other = new DatabaseSync(path);
  other.prepare('select count(*) from books').get();
  await archive[Symbol.asyncDispose]();
  assert.equal((await stat(`${path}-wal`)).size, 0);
});
