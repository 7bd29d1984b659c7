import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Client } from 'pg';
import { YEAR_MAX } from '../../src/book/book.ts';
import type { Book } from '../../src/book/contract.ts';
import type { BookPosition, SearchQuery } from '../../src/search/book-search.ts';
import { twinKeyOf } from '../../src/search/folding.ts';
import { engines } from '../../testkit/engines.ts';
import { countAll, createMany, openStoreAt, type SearchableStore, textOf } from '../../testkit/stores.ts';

/** More than the keys that a statement reads. */
const BOOKS = 20_400;
const TWINS: SearchQuery = { sort: 'twins', isDescending: false, yearFrom: -YEAR_MAX, yearTo: YEAR_MAX };

for (const engine of engines) {
  describe(`The list of twins, on ${engine.name}`, () => {
    test('has every book that has a twin once, among thousands, page by page, after every change', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const books = await createMany(
        store,
        Array.from({ length: BOOKS / 2 }, (_, number) => bookOf(number)),
        Array.from({ length: BOOKS / 2 }, (_, number) => bookOf(number + BOOKS / 2)),
      );
      const expected = books.filter((_, number) => hasTwin(number));
      while ((await store.search({ ...TWINS, q: 'absent' }, 1)).more !== 'no');
      await assertTwins(store, expected);
      for (const limit of [7, 1_000])
        assert.deepEqual(await walk(store, TWINS, limit, 3_000), inOrder(expected).slice(0, 3_000));
      // Every `author` is too common for candidates.
      assert.deepEqual(await walk(store, { ...TWINS, q: 'author' }, 900), inOrder(expected));
      const offset = { ...TWINS, skip: expected.length - 5 };
      assert.deepEqual(await walk(store, offset, 3), inOrder(expected).slice(-5));

      const [first, second] = expected.filter(({ title }) => title === 'Twice 100');
      await store.delete(first?.id ?? 0);
      let remaining = expected.filter((book) => book !== first && book !== second);
      await assertTwins(store, remaining);
      const single = books[50];
      await store.update(single?.id ?? 0, {
        title: 'TWICE: 100',
        author: 'Author',
        year: (second?.year ?? 0) + 1,
      });
      const now = { ...second, id: single?.id, title: 'TWICE: 100' } as Book;
      remaining = [...remaining, second as Book, now];
      await assertTwins(store, remaining);
    });

    test('has each of thousands of copies in a range of years, when the engine knows how many there are', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const copy = { title: 'The same', author: 'An author', year: 1900 };
      const books = await createMany(store, ...[1, 2].map(() => Array.from({ length: 10_000 }, () => copy)));
      while ((await store.search({ ...TWINS, q: 'absent' }, 1)).more !== 'no');
      if (engine.name === 'PostgreSQL') await analyze(address.dbUrl);
      assert.deepEqual(
        await walk(store, { ...TWINS, yearFrom: 1_000 }, 1_000, 3_000),
        inOrder(books).slice(0, 3_000),
      );
    });
  });
}

async function analyze(dbUrl: string): Promise<void> {
  const client = new Client(dbUrl);
  await client.connect();
  await client.query('analyze book_search');
  await client.end();
}

/** Of each hundred books, one is stored twice; of the last four hundred, all are the same. */
function bookOf(number: number) {
  if (number >= BOOKS - 400) return { title: 'The same', author: 'An author', year: 1900 };
  const twice = Math.floor(number / 100);
  if (number % 100 < 2)
    return { title: `Twice ${twice}`, author: 'Author', year: 1900 + (number % 2) * (twice % 3) };
  return { title: `Title ${number}`, author: 'An author', year: number % 5 };
}

function hasTwin(number: number): boolean {
  return number >= BOOKS - 400 || (number % 100 < 2 && Math.floor(number / 100) % 3 < 2);
}

function inOrder(books: readonly Book[]): number[] {
  return books
    .map((book) => ({ key: twinKeyOf(book), id: book.id }))
    .toSorted((one, other) => one.key - other.key || one.id - other.id)
    .map(({ id }) => id);
}

async function assertTwins(store: SearchableStore, expected: readonly Book[]): Promise<void> {
  assert.deepEqual(await walk(store, TWINS, 1_000), inOrder(expected));
  assert.equal(await countAll(store, TWINS), expected.length);
}

/** The ids of the books of a query. @param max the number of books after which the walk ends */
async function walk(
  store: SearchableStore,
  query: SearchQuery,
  limit: number,
  max = Infinity,
): Promise<number[]> {
  const ids: number[] = [];
  let skip = query.skip ?? 0;
  for (let after: BookPosition | undefined; ids.length < max; ) {
    const page = await store.search({ ...query, skip }, limit, after);
    ids.push(...(JSON.parse(`[${textOf(page)}]`) as Book[]).map(({ id }) => id));
    if (page.more === 'no') break;
    ({ last: after, skip } = page);
  }
  return ids.slice(0, max);
}
