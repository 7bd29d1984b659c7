import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Book } from '../../src/book/book.ts';
import type { BookPosition } from '../../src/book/book-store-interface.ts';
import type { StoreObserver } from '../../src/store/observer.ts';
import { engines } from '../support/engines.ts';
import { createDatabase } from '../support/postgres.ts';
import { openStoreAt } from '../support/stores.ts';

const BY_TITLE = { sort: 'title', isDescending: false, yearFrom: -10_000, yearTo: 10_000 } as const;

describe('Concurrent searches', () => {
  test('wait for a connection to PostgreSQL without a timeout', async () => {
    await using database = await createDatabase();
    await using store = await openStoreAt(database.url);
    await database.query(`
      create function slow(text) returns text language sql as $$ select $1 from pg_sleep(0.1) $$;
      alter table books rename to all_books;
      create view books as select id, slow(title) as title, author, year from all_books`);
    await database.query(
      `insert into all_books (title, author, year) values ('Dune', 'Frank Herbert', 1965)`,
    );

    // 50 statements of at least 0.1 s over two connections take longer than any timeout.
    const searches = Array.from({ length: 50 }, () => store.search(BY_TITLE, 10));
    const results = await Promise.allSettled(searches);
    assert.deepEqual(
      results.map((result) => (result.status === 'fulfilled' ? result.value.count : String(result.reason))),
      searches.map(() => 1),
    );
  });

  test('that sort without an index share the connections: each call reads some of the books', async () => {
    await using database = await createDatabase();
    await using store = await openStoreAt(database.url);
    await database.query(`
      create function slow(text) returns text language sql as $$ select $1 from pg_sleep(0.1) $$;
      insert into books (title, author, year) select 'T' || number % 300, '', 0 from generate_series(1, 600) as number;
      alter table books rename to all_books;
      create view books as select id, case when id % 100 = 0 then slow(title) else title end as title, author, year
        from all_books`);

    const read: string[] = [];
    let calls = 0;
    let last: BookPosition | undefined;
    for (let more = 'yes'; more !== 'no'; calls++) {
      const page = await store.search(BY_TITLE, 400, last);
      ({ last, more } = page);
      const books = JSON.parse(`[${Buffer.from(page.json).toString()}]`) as Book[];
      read.push(...books.map(({ title, id }) => `${title}/${String(id).padStart(3, '0')}`));
    }
    assert.ok(calls > 2, `${calls} calls`);
    assert.equal(read.length, 600);
    const keys = read.map((text) => text.replace('/', '\u0001'));
    assert.deepEqual(keys, keys.toSorted());
  });

  for (const engine of engines) {
    test(`leave the queue on ${engine.name} when they are aborted`, async () => {
      await using address = await engine.createAddress();
      let runs = 0;
      const observer: StoreObserver = {
        operation: (name) => () => (runs += Number(name === 'search')),
        pool: () => {},
        part: () => () => {},
        moved: () => {},
      };
      await using store = await openStoreAt(address.dbUrl, observer);
      await store.create({ title: 'Dune', author: 'Frank Herbert', year: 1965 });
      const gone = new AbortController();
      const calls = [
        ...Array.from({ length: 100 }, () => store.search(BY_TITLE, 10, undefined, gone.signal)),
        ...Array.from({ length: 100 }, () => store.count(BY_TITLE, undefined, gone.signal)),
      ];
      const rejections = Promise.all(calls.map((call) => assert.rejects(call, /^Error: gone$/)));
      const last = store.search(BY_TITLE, 10);
      gone.abort(new Error('gone'));

      await rejections;
      assert.equal((await last).count, 1);
      assert.ok(runs < 10, `${runs} have run`);
      await assert.rejects(store.search(BY_TITLE, 10, undefined, gone.signal), /^Error: gone$/);
    });
  }
});
