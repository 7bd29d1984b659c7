import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { type Book, ID_MAX, YEAR_MAX } from '../../src/book/book.ts';
import type { BookPage, BookStore } from '../../src/book/book-store.ts';
import { PAGE_BOOKS_MAX } from '../../src/store/page.ts';
import { SELECT_PAGE } from '../../src/store/sqlite/sql.ts';
import { engines } from '../../testkit/engines.ts';
import { listBooks, openStoreAt, renderList, textOf } from '../../testkit/stores.ts';
import { SPECIAL_TEXTS } from './texts.ts';

const EMPTY_PAGE: BookPage = { json: new Uint8Array(), last: undefined };

for (const engine of engines) {
  describe(`The list on ${engine.name}`, () => {
    test('without books is one empty page', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);

      assert.deepEqual(await store.list(), EMPTY_PAGE);
    });

    test('equals JSON.stringify of the books, byte for byte', async (t) => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const years = [-YEAR_MAX, -750, 0, 1999, YEAR_MAX];
      for (const [name, text] of Object.entries(SPECIAL_TEXTS)) {
        await t.test(name, async () => {
          const book = await store.create({
            title: text,
            author: `${text}.`,
            year: years[text.length % 5] ?? 0,
          });
          const json = textOf(await store.list(book.id - 1));
          assert.ok(
            json === JSON.stringify(book),
            `${json.slice(0, 500)} is not ${JSON.stringify(book).slice(0, 500)}`,
          );
        });
      }
    });

    for (const count of [1, PAGE_BOOKS_MAX - 1, PAGE_BOOKS_MAX, PAGE_BOOKS_MAX + 1, 2 * PAGE_BOOKS_MAX + 1]) {
      test(`returns each of ${count} books once, in ascending order of id`, async () => {
        await using address = await engine.createAddress();
        await using store = await openStoreAt(address.dbUrl);
        const books = await createBooks(store, count);

        assert.equal(await renderList(store), JSON.stringify(books));
      });
    }

    test('continues after the given id, whether or not it exists', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const books = await createBooks(store, 5);
      const [first, second, ...rest] = books;
      assert.ok(first && second);
      await store.delete(second.id);

      assert.equal(textOf(await store.list(0)), renderBooks([first, ...rest]));
      assert.equal(textOf(await store.list(first.id)), renderBooks(rest));
      assert.equal(textOf(await store.list(second.id)), renderBooks(rest));
      assert.deepEqual(await store.list(books.at(-1)?.id), EMPTY_PAGE);
      assert.deepEqual(await store.list(ID_MAX), EMPTY_PAGE);
    });

    test('returns every book that exists throughout the listing once, during concurrent changes', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      await using neighbour = await openStoreAt(address.dbUrl);
      const books = await createBooks(store, 3 * PAGE_BOOKS_MAX);
      const [staying, leaving] = [
        books.filter(({ id }) => id % 3 !== 0),
        books.filter(({ id }) => id % 3 === 0),
      ];

      const walk = listBooks(store);
      const others = Promise.all([
        ...leaving.map(({ id }) => neighbour.delete(id)),
        createBooks(neighbour, PAGE_BOOKS_MAX),
        ...staying.map(({ id, year }) => store.update(id, { year: year + 1 })),
      ]);
      const met = (await walk).map(({ id }) => id);
      await others;

      assert.deepEqual(
        met,
        [...new Set(met)].toSorted((a, b) => a - b),
      );
      const isMet = new Set(met);
      assert.deepEqual(
        staying.filter(({ id }) => !isMet.has(id)),
        [],
      );
    });
  });
}

/** Creates books at once. @returns them in ascending order of id */
async function createBooks(store: BookStore, count: number): Promise<Book[]> {
  const fields = Array.from({ length: count }, (_, index) => ({
    title: `Volume ${index}`,
    author: '',
    year: index,
  }));
  const books = await Promise.all(fields.map((book) => store.create(book)));
  return books.toSorted((a, b) => a.id - b.id);
}

function renderBooks(books: readonly Book[]): string {
  return JSON.stringify(books).slice(1, -1);
}

test('A page of SQLite begins at its first book, and does not read those before', () => {
  using database = new DatabaseSync(':memory:');
  database.exec('create table books (id integer primary key, title text, author text, year integer)');
  const plan = database.prepare(`explain query plan ${SELECT_PAGE}`).all({ after: 0, limit: 1 });
  const reads = plan.map(({ detail }) => detail).filter((detail) => /books/.test(String(detail)));
  assert.deepEqual(
    reads,
    Array.from({ length: 2 }, () => 'SEARCH books USING INTEGER PRIMARY KEY (rowid>?)'),
  );
});
