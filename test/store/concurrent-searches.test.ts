import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StoreObserver } from '../../src/store/observer.ts';
import { engines } from '../../testkit/engines.ts';
import { createDatabase } from '../../testkit/postgres.ts';
import * as sql from '../../testkit/sql.ts';
import { openStoreAt } from '../../testkit/stores.ts';

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

  for (const engine of engines) {
    test(`that sort without the index on ${engine.name} end at 200,000 books`, async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const numbers = 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 200000)';
      await sql.query(
        address.dbUrl,
        `insert into books (title, author, year) ${numbers} select '', '', 0 from n`,
      );
      await sql.query(address.dbUrl, 'create table book_changes (other text)');
      // The limit is of both engines, and the search takes seconds on PostgreSQL.
      if (engine.name === 'SQLite') assert.equal((await store.search(BY_TITLE, 10)).count, 10);
      await store.create({ title: 'Dune', author: 'Frank Herbert', year: 1965 });
      await assert.rejects(store.search(BY_TITLE, 10), /too many books to sort without the index/);
    });

    test(`leave the queue on ${engine.name} when they are aborted`, async () => {
      await using address = await engine.createAddress();
      let runs = 0;
      const observer: StoreObserver = {
        operation: (name) => () => (runs += Number(name === 'search')),
        pool: () => {},
        part: () => () => {},
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
