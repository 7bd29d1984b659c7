import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { ID_MAX, YEAR_MAX } from '../../src/book/book.ts';
import {
  type BookStore,
  type ListPage,
  type PageOptions,
  StoreUnavailable,
} from '../../src/book/book-store.ts';
import type { Book } from '../../src/book/contract.ts';
import { PAGE_BOOKS_MAX } from '../../src/store/page.ts';
import { PAGE } from '../../src/store/sqlite/pages.ts';
import { engines } from '../../testkit/engines.ts';
import * as sql from '../../testkit/sql.ts';
import { createMany, listBooks, openStoreAt, renderList, textOf } from '../../testkit/stores.ts';
import { observing } from './observing.ts';
import { SPECIAL_TEXTS } from './texts.ts';

const EMPTY_PAGE = { json: '', last: undefined };

for (const engine of engines) {
  describe(`The list on ${engine.name}`, () => {
    test('without books is one empty page', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);

      assert.deepEqual(render(await store.list()), EMPTY_PAGE);
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
      assert.deepEqual(render(await store.list(books.at(-1)?.id)), EMPTY_PAGE);
      assert.deepEqual(render(await store.list(ID_MAX)), EMPTY_PAGE);
    });

    test('frees a page when all callers that share it have freed it', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const books = await createBooks(store, 5);
      // The first call is a batch of its own.
      const [alone, ...shared] = await Promise.all([1, 2, 3].map(() => store.list()));
      assert.ok(alone && shared.length === 2);
      for (const page of [alone, ...shared]) {
        assert.equal(textOf(page), renderBooks(books));
        page.free?.();
      }
      assert.deepEqual(
        [alone, ...shared].map(({ json }) => json.length),
        [0, 0, 0],
      );
    });

    test('has each book once in pages of every size, which have no more bytes than they may, and no fewer than they can', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const texts = [
        '',
        'x'.repeat(300),
        '\u0001'.repeat(90),
        '書'.repeat(200),
        '"\\'.repeat(50),
        'y'.repeat(9),
      ];
      const fields = Array.from({ length: 60 }, (_, index) => ({
        title: texts[index % texts.length] ?? '',
        author: texts[(index * 7) % 5] ?? '',
        year: index % 2 === 0 ? index : -YEAR_MAX,
      }));
      const all = await createMany(store, fields);
      for (const index of [0, 7, 8, 9, 59]) await store.delete(all[index]?.id ?? 0);
      const books = all.filter((_, index) => ![0, 7, 8, 9, 59].includes(index));

      for (const count of [1, 2, 7, 54, 55, 56, 1_000]) {
        for (const bytes of [1, 100, 700, 2_048, 5_000, 1_024 * 1_024]) {
          const pages = await readPages(store, { books: count, bytes });
          assert.deepEqual(pages.flat(), books);
          let next = 0;
          for (const page of pages) {
            const size = `${page.length} of ${count} books in ${bytes} bytes`;
            assert.ok(page.length <= count && (page.length === 1 || lengthOf(page) <= bytes), size);
            next += page.length;
            const following = books[next];
            const isFull = page.length === count || !following || lengthOf([...page, following]) > bytes;
            assert.ok(isFull, size);
          }
        }
      }
    });

    test('has a page of one book of any length', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      await sql.query(
        address.dbUrl,
        `insert into books (title, author, year) values ('${'x'.repeat(3_000_000)}', '', 1), ('', '', 2)`,
      );
      const [[long, ...others] = [], ...rest] = await readPages(store, {});
      assert.equal(long?.title.length, 3_000_000);
      assert.deepEqual([others.length, rest.length, rest[0]?.[0]?.year], [0, 1, 2]);
    });

    test('is read in batches of a few pages, each of which gets its pages when it has been read', async () => {
      await using address = await engine.createAddress();
      const sizes: number[] = [];
      await using store = await openStoreAt(address.dbUrl, observing('list', sizes));
      const books = await createBooks(store, 100);
      const pages = await Promise.all([
        ...books.slice(0, 50).map(({ id }) => store.list(id, { books: 10 })),
        ...books.slice(0, 50).map(() => store.list(undefined, { books: 10 })),
      ]);
      assert.equal(pages.length, 100);
      // 50 equal requests are one page.
      assert.ok(Math.max(...sizes.slice(0, 6)) <= 8, sizes.join(' '));
      assert.equal(
        sizes.reduce((sum, size) => sum + size, 0),
        100,
      );

      sizes.length = 0;
      // Each may have 1 MiB, and a batch 8.
      await Promise.all(Array.from({ length: 10 }, (_, after) => store.list(after, { books: 1_000 })));
      assert.deepEqual(sizes, [8, 2]);
    });

    test('is not read for calls that are not wanted any more when their turn comes', async () => {
      await using address = await engine.createAddress();
      const sizes: number[] = [];
      await using store = await openStoreAt(address.dbUrl, observing('list', sizes));
      const books = await createBooks(store, 20);
      const unwanted = books.map(({ id }) => store.list(id, { begin: gone }));
      const wanted = [store.list(0), store.list(0)];
      for (const call of unwanted) await assert.rejects(call, StoreUnavailable);
      for (const page of await Promise.all(wanted)) assert.equal(textOf(page), renderBooks(books));
      assert.equal(
        sizes.reduce((sum, size) => sum + size, 0),
        2,
      );
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

/** All pages of the list. */
async function readPages(store: BookStore, options: PageOptions): Promise<Book[][]> {
  const pages: Book[][] = [];
  let after: number | undefined;
  do {
    const page = await store.list(after, options);
    pages.push(JSON.parse(`[${textOf(page)}]`) as Book[]);
    after = page.last;
  } while (after !== undefined);
  return pages;
}

function render(page: ListPage): object {
  return { json: textOf(page), last: page.last };
}

function gone(): never {
  throw new StoreUnavailable('gone');
}

function lengthOf(books: readonly Book[]): number {
  return Buffer.byteLength(renderBooks(books));
}

function renderBooks(books: readonly Book[]): string {
  return JSON.stringify(books).slice(1, -1);
}

test('A page of SQLite begins at its first book, and does not read those before', () => {
  using database = new DatabaseSync(':memory:');
  database.exec('create table books (id integer primary key, title text, author text, year integer)');
  for (const statement of Object.values(PAGE)) {
    const plan = database.prepare(`explain query plan ${statement}`).all({ after: 0, limit: 1 });
    const reads = plan.map(({ detail }) => detail).filter((detail) => /books/.test(String(detail)));
    assert.ok(reads.length > 0);
    assert.deepEqual(new Set(reads), new Set(['SEARCH books USING INTEGER PRIMARY KEY (rowid>?)']));
  }
});
