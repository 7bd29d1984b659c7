import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StoreObserver } from '../../src/store/observer.ts';
import { engines } from '../../testkit/engines.ts';
import { createDatabase, type Database } from '../../testkit/postgres.ts';
import { openStoreAt, searchAll } from '../../testkit/stores.ts';

const BY_TITLE = { sort: 'title', isDescending: false, yearFrom: -10_000, yearTo: 10_000 } as const;

describe('Concurrent searches', () => {
  test('wait for a connection to PostgreSQL without a timeout', async () => {
    await using database = await createDatabase();
    await using store = await openStoreAt(database.url);
    await store.create({ title: 'Dune', author: 'Frank Herbert', year: 1965 });
    assert.equal((await searchAll(store, BY_TITLE, 10)).length, 1);
    await database.query(`
      create function slow(text) returns text language sql as $$ select $1 from pg_sleep(0.1) $$;
      alter table book_search rename to all_search;
      create view book_search as
        select id, twin_key, year, bytes, slow(title_key) as title_key, author_key, title_lower, author_lower, words, trigrams
        from all_search;
      comment on view book_search is '${await commentOf(database)}'`);

    // 50 statements of at least 0.1 s over two connections take longer than any timeout.
    const searches = Array.from({ length: 50 }, () => store.search(BY_TITLE, 10));
    const results = await Promise.allSettled(searches);
    assert.deepEqual(
      results.map((result) => (result.status === 'fulfilled' ? result.value.count : String(result.reason))),
      searches.map(() => 1),
    );
  });

  for (const engine of engines) {
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

    test(`do not fail on ${engine.name} while they wait for the index`, async () => {
      await using address = await engine.createAddress();
      const failures: boolean[] = [];
      const observer: StoreObserver = {
        operation: (name) => (_calls, _ms, hasFailed) => void (name === 'search' && failures.push(hasFailed)),
        pool: () => {},
        part: () => () => {},
      };
      await using store = await openStoreAt(address.dbUrl, observer);
      await store.create({ title: 'Dune', author: 'Frank Herbert', year: 1965 });
      const pages = await Promise.all(Array.from({ length: 10 }, () => store.search(BY_TITLE, 10)));
      assert.deepEqual(
        pages.map((page) => page.count),
        pages.map(() => 1),
      );
      // On PostgreSQL, the first ones find no index.
      assert.ok(failures.length > (engine.name === 'PostgreSQL' ? pages.length : 0), `${failures.length}`);
      assert.ok(!failures.includes(true));
    });
  }
});

/** The version of the index. */
async function commentOf(database: Database): Promise<string> {
  const [row] = await database.query<{ version: string }>(
    "select obj_description('book_search'::regclass, 'pg_class') as version",
  );
  return row?.version ?? assert.fail('no version');
}
