import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { YEAR_MAX } from '../../src/book/book.ts';
import type { Book } from '../../src/book/contract.ts';
import { type SearchQuery, SORT_KEYS, type SortKey } from '../../src/search/book-search.ts';
import { type Address, type Engine, engines } from '../../testkit/engines.ts';
import * as sql from '../../testkit/sql.ts';
import { openStoreAt, type SearchableStore, textOf } from '../../testkit/stores.ts';

/** So many that the middle is found by the positions of the index. */
const BOOKS = 23_000;
const MIDDLE = 21_000;
/** The first books, which change; in the order of each key they are before the middle. */
const CHANGING = 2_000;

const ALL = { yearFrom: -YEAR_MAX, yearTo: YEAR_MAX };
const BY_TITLE = { ...ALL, sort: 'title', isDescending: false } as const;

for (const engine of engines) {
  describe(`An offset in the middle, on ${engine.name}`, () => {
    test('leads to the same book while others change before it, in two stores', async () => {
      await using address = await createLibrary(engine);
      await using store = await openStoreAt(address.dbUrl);
      await using other = await openStoreAt(address.dbUrl);
      for (const one of [store, other]) await readBooks(one, BY_TITLE, 1);
      const stop = new AbortController();
      const writers = [0, 1, 2, 3].map((index) => move(index % 2 === 0 ? store : other, index, stop.signal));
      const found: number[] = [];
      try {
        for (let round = 0; round < 10; round++)
          for (const one of [store, other]) {
            const [book] = await readBooks(one, { ...BY_TITLE, skip: MIDDLE }, 1);
            found.push(book?.id ?? 0);
          }
      } finally {
        stop.abort();
      }
      const changes = (await Promise.all(writers)).reduce((sum, count) => sum + count, 0);
      assert.ok(changes > 10, `${changes} changes`);
      assert.deepEqual(
        found,
        found.map(() => MIDDLE + 1),
      );
      for (const one of [store, other]) await assertOffsets(one, ['title', 'year']);
    });

    test('is exact after changes of all kinds, a stop, and changes of other programs meanwhile', async () => {
      await using address = await createLibrary(engine);
      {
        await using store = await openStoreAt(address.dbUrl);
        await readBooks(store, BY_TITLE, 1);
        for (let id = 1; id <= 300; id++)
          await (id % 3 === 0 ? store.delete(id) : store.update(id, { title: `z${id}`, year: id - BOOKS }));
        await assertOffsets(store, ['id', 'title']);
        await store.update(BOOKS, { title: '' });
      }
      await sql.query(address.dbUrl, 'delete from books where id between 400 and 3000');
      await sql.query(address.dbUrl, `update books set title = 'm', year = 7 where id between 5000 and 5100`);
      await sql.query(address.dbUrl, insertBooks(BOOKS + 1, BOOKS + 2_500));
      await using store = await openStoreAt(address.dbUrl);
      await assertOffsets(store);
    });
  });
}

describe('An offset in the middle, on PostgreSQL', () => {
  test('is exact after connections have broken while changes were applied', async () => {
    const postgres = engines.find(({ name }) => name === 'PostgreSQL') as Engine;
    await using address = await createLibrary(postgres);
    await using store = await openStoreAt(address.dbUrl);
    await using other = await openStoreAt(address.dbUrl);
    for (let round = 0; round < 10; round++) {
      await sql.query(
        address.dbUrl,
        `update books set title = title || 'x', year = year + 1 where id % 10 = ${round}`,
      );
      const searches = Promise.allSettled(
        [store, other].map((one) => readBooks(one, { ...BY_TITLE, skip: MIDDLE }, 1)),
      );
      await sql.query(
        address.dbUrl,
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
      );
      await searches;
    }
    await assertOffsets(store, ['id', 'title', 'year']);
  });
});

/** A store whose books have the same order by id, by title and by year, and another one by author. */
async function createLibrary(engine: Engine): Promise<Address> {
  const address = await engine.createAddress();
  await (await openStoreAt(address.dbUrl))[Symbol.asyncDispose]();
  await sql.query(address.dbUrl, insertBooks(1, BOOKS));
  return address;
}

function insertBooks(first: number, last: number): string {
  return `
    insert into books (id, title, author, year)
    with recursive n (i) as (select ${first} union all select i + 1 from n where i < ${last})
    select i, 'm' || (100000 + i), 'a' || (i * 7919 % 23003), i from n`;
}

/** Moves some of the first books among each other until the signal is aborted. @returns how many times */
async function move(store: SearchableStore, writer: number, signal: AbortSignal): Promise<number> {
  let round = 0;
  for (; !signal.aborted; round++) {
    // Or searches wait for changes.
    await sleep(5);
    const id = 1 + ((writer * 500 + round * 37) % CHANGING);
    await store.update(id, { title: `${round % 2 === 0 ? 'a' : 'b'}${round}`, year: -round });
  }
  return round;
}

/** Asserts that offsets in every order find the books that a walk through all pages finds there. */
async function assertOffsets(store: SearchableStore, sorts: readonly SortKey[] = SORT_KEYS): Promise<void> {
  for (const sort of sorts)
    for (const isDescending of [false, true]) {
      const query = { ...ALL, sort, isDescending };
      const ids = await walk(store, query);
      for (const skip of [20_001, MIDDLE - 1, MIDDLE, ids.length - 1, ids.length]) {
        const books = await readBooks(store, { ...query, skip }, 3);
        assert.deepEqual(idsOf(books), ids.slice(skip, skip + 3), `${sort} ${isDescending} ${skip}`);
      }
      assert.deepEqual(await store.count(query), { count: ids.length, last: undefined });
    }
}

async function walk(store: SearchableStore, query: SearchQuery): Promise<number[]> {
  const ids: number[] = [];
  for (let page = await store.search(query, 1_000); ; page = await store.search(query, 1_000, page.last)) {
    ids.push(...idsOf(JSON.parse(`[${textOf(page)}]`) as Book[]));
    if (page.more === 'no') return ids;
  }
}

async function readBooks(store: SearchableStore, query: SearchQuery, limit: number): Promise<Book[]> {
  let page = await store.search(query, limit);
  while (page.more === 'unknown' && page.count === 0)
    page = await store.search({ ...query, skip: page.skip }, limit, page.last);
  return JSON.parse(`[${textOf(page)}]`) as Book[];
}

function idsOf(books: readonly Book[]): number[] {
  return books.map(({ id }) => id);
}
