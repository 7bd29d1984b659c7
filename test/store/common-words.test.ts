import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { YEAR_MAX } from '../../src/book/book.ts';
import type { Book } from '../../src/book/contract.ts';
import type { BookPosition, SearchQuery } from '../../src/search/book-search.ts';
import { afterCondition } from '../../src/search/conditions.ts';
import { Parameters } from '../../src/search/parameters.ts';
import { CommonBeginnings } from '../../src/search/sqlite/common-beginnings.ts';
import { TABLES } from '../../src/search/sqlite/schema.ts';
import { engines } from '../../testkit/engines.ts';
import { compareKeys, keyOf } from '../../testkit/folding-reference.ts';
import { countAll, createMany, openStoreAt, type SearchableStore, textOf } from '../../testkit/stores.ts';

/** More than a statement compares. */
const BOOKS = 21_000;
const LONG = 'the history of a river, and of all the towns that were built beside it';
const ALL = { yearFrom: -10_000, yearTo: 10_000 };

/** Queries whose candidates are too many to sort, and the numbers of the books that match. */
const QUERIES: readonly [Partial<SearchQuery>, (number: number) => boolean][] = [
  [{ yearFrom: -YEAR_MAX, yearTo: YEAR_MAX }, () => true],
  // Two words that are looked up by their first three letters, which another word has, too.
  [{ q: 'river autho' }, (number) => number % 50 !== 49],
  [{ q: 'towns riv hist built beside author' }, (number) => number % 50 !== 49],
  [{ q: 'river', yearFrom: 20 }, (number) => number % 50 >= 20],
  [{ title: LONG.toUpperCase() }, () => true],
  // Two letters are no trigram.
  [{ title: 'zq' }, (number) => number % 2_999 === 0],
];
const ORDERS = [
  { sort: 'id', isDescending: false },
  { sort: 'title', isDescending: false },
  { sort: 'title', isDescending: true },
  { sort: 'year', isDescending: true },
  { sort: 'id', isDescending: true },
] as const;

for (const engine of engines) {
  describe(`Searches of words that thousands of books have, on ${engine.name}`, () => {
    test('return each match once in its order, and count all', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const books = (await createMany(store, ...arraysOfBooks())).map((book, number) => ({
        number,
        keys: { ...book, title: keyOf(book.title) },
      }));
      const inOrders = ORDERS.map((order) =>
        books
          .map(({ number, keys }) => ({ number, key: keys[order.sort], id: keys.id }))
          .toSorted(comparisonOf(order)),
      );
      // Without the index, a call reads some of the books.
      while ((await store.search({ ...ALL, ...ORDERS[0], q: 'absent' }, 1)).more !== 'no');
      for (const [turn, [condition, isMatch]] of QUERIES.entries()) {
        for (const [index, order] of ORDERS.entries()) {
          // Every query in two orders.
          if ((turn + index) % 2 === 0) continue;
          const query: SearchQuery = { ...ALL, ...condition, ...order };
          const sorted = inOrders[index]?.filter(({ number }) => isMatch(number)) ?? [];
          const ids = sorted.map(({ id }) => id);
          const label = JSON.stringify(query);
          assert.deepEqual(await readIds(store, query, 1_500), ids.slice(0, 1_500), label);
          const last = sorted.at(-1_500);
          const rest = last ? ids.slice(-1_499) : ids;
          assert.deepEqual(await readIds(store, query, BOOKS, last), rest, label);
          const skipped = await readIds(store, { ...query, skip: 500 }, 9, sorted[100]);
          assert.deepEqual(skipped, ids.slice(601, 610), label);
          if (!query.isDescending) continue;
          const skip = Math.max(0, ids.length - 50);
          assert.deepEqual(await readIds(store, { ...query, skip }, BOOKS), ids.slice(skip), label);
        }
        const matches = books.filter(({ number }) => isMatch(number)).length;
        assert.equal(await countAll(store, { ...ALL, ...condition, ...ORDERS[0] }), matches);
      }
    });
  });
}

for (const first of [1, 80_000_001, -50_000])
  test(`A beginning of words is common on SQLite by the number of its books, also if one id is far below the others, from ${first + 1} on`, () => {
    using database = new DatabaseSync(':memory:');
    database.exec(TABLES);
    const books = 40_000;
    database.exec(`
      insert into book_search (id, title_key, author_key, twin_key, year, bytes)
      with recursive ids (id) as (select ${first} union all select id + 1 from ids where id < ${first - 1 + books})
      select id, iif(id % 7 < 5, 'riverside', 'rivet') || char(1), char(1), id, 0, 60 from ids;
      update book_search set id = id - 50000000 where id = ${first};
      insert into book_words (rowid, words) select id, replace(title_key, char(1), '') from book_search`);
    const common = new CommonBeginnings();
    // FTS5 lists beginnings of three characters.
    assert.deepEqual(
      ['rive', 'rivers', 'riven'].map((beginning) => common.has(beginning, database)),
      [true, true, false],
    );
    database.exec(`delete from book_search where id >= ${first + books / 4}`);
    assert.equal(new CommonBeginnings().has('rive', database), false);
  });

test('A late page of the books with a common word begins at its position in the index, and does not read those before', () => {
  using database = new DatabaseSync(':memory:');
  const books = 200_000;
  database.exec(`
    create virtual table book_words using fts5 (words, content = '', contentless_delete = 1, detail = none);
    insert into book_words (rowid, words)
    with recursive ids (id) as (select 1 union all select id + 1 from ids where id < ${books}) select id, 'river' from ids`);
  const fastest = (after: number) => {
    const parameters = new Parameters('?');
    const isAfter = afterCondition({ ...ALL, ...ORDERS[0] }, { key: after, id: after })(parameters);
    const statement = database.prepare(
      `select rowid as id from book_words where book_words match 'river' and ${isAfter} order by id limit 10`,
    );
    const times = Array.from({ length: 9 }, () => {
      const startMs = performance.now();
      assert.equal(statement.all(...(parameters.values as number[]))[0]?.id, after + 1);
      return performance.now() - startMs;
    });
    return Math.min(...times);
  };
  // If it read them, it took a thousand times as long.
  assert.ok(fastest(books - 100) < 100 * fastest(100));
});

function arraysOfBooks() {
  const books = Array.from({ length: BOOKS }, (_, number) => ({
    title: `${(number * 7_919) % BOOKS} ${number % 2_999 === 0 ? 'zq' : 'No'}: ${LONG}`,
    author: number % 50 === 49 ? 'Autumn' : `Author ${number % 7}`,
    year: number % 50,
  }));
  return Array.from({ length: BOOKS / 1_000 }, (_, index) => books.slice(1_000 * index, 1_000 * (index + 1)));
}

function comparisonOf({ isDescending }: Pick<SearchQuery, 'isDescending'>) {
  return (one: BookPosition, other: BookPosition): number => {
    const order =
      typeof one.key === 'string' ? compareKeys(one.key, String(other.key)) : one.key - Number(other.key);
    return (order || one.id - other.id) * (isDescending ? -1 : 1);
  };
}

async function readIds(
  store: SearchableStore,
  query: SearchQuery,
  limit: number,
  after?: BookPosition,
): Promise<number[]> {
  const ids: number[] = [];
  for (let [position, { skip = 0 }] = [after, query]; ; ) {
    const page = await store.search({ ...query, skip }, Math.min(1_000, limit - ids.length), position);
    ids.push(...(JSON.parse(`[${textOf(page)}]`) as Book[]).map(({ id }) => id));
    if (page.more === 'no' || ids.length >= limit) return ids;
    position = page.last;
    skip = page.skip;
  }
}
