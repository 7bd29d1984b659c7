import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { YEAR_MAX } from '../../src/book/book.ts';
import type { BookStore } from '../../src/book/book-store-interface.ts';
import { createDatabase, type Database } from '../support/postgres.ts';
import { openStoreAt } from '../support/stores.ts';

const QUERY = { sort: 'id', isDescending: false, yearFrom: -YEAR_MAX, yearTo: YEAR_MAX, q: 'iliad' } as const;

/** What an index by other rules may hold of a book: nothing that a search for it looks for. */
const FOLD_OTHERWISE = `update book_search set words = '  other  ', title_lower = 'other', trigrams = '{}'`;

/** A table of an index that lacks what this version needs. */
const CHANGE_SCHEMA = 'alter table book_search drop column bytes';

// SQLite makes its index anew for every process.
describe('The search index in PostgreSQL', () => {
  test('is believed where it is of this version', async () => {
    await using database = await createDatabase();
    {
      await using store = await openStoreWithIndex(database);
      await database.query(FOLD_OTHERWISE);
      assert.equal((await store.search(QUERY, 10)).count, 0);
    }
    await using store = await openStoreAt(database.url);
    assert.equal((await store.search(QUERY, 10)).count, 0);
  });

  for (const [what, change] of [
    ['the folding', (version: string) => version.replace(/folding \d+/, 'folding 0')],
    ['Unicode', (version: string) => version.replace(/Unicode [\d.]+/, 'Unicode 1.1')],
    ['the schema', (version: string) => version.replace(/schema \d+/, 'schema 1')],
    ['anything, as it has none', () => undefined],
  ] as const) {
    test(`is made anew where it is of another version of ${what}; until then nothing is missed`, async () => {
      await using database = await createDatabase();
      await using store = await openStoreWithIndex(database);
      const version = await versionOf(database);
      const other = change(version);
      assert.notEqual(other, version);
      await database.query(FOLD_OTHERWISE);
      if (!other?.startsWith(version.split(',')[0] ?? '')) await database.query(CHANGE_SCHEMA);
      await database.query(`comment on table book_search is ${other === undefined ? 'null' : `'${other}'`}`);
      assert.equal((await store.search(QUERY, 10)).count, 1);
      await store.create({ title: 'The Iliad', author: 'Alexander Pope', year: 1715 });
      assert.equal((await store.search(QUERY, 10)).count, 2);

      await using next = await openStoreAt(database.url);
      assert.equal((await next.search(QUERY, 10)).count, 2);
      await untilIndexed(next, database);
      assert.equal(await versionOf(database), version);
      assert.deepEqual(
        await database.query('select distinct words from book_search where words like $1', ['%other%']),
        [],
      );
      for (const one of [store, next]) assert.equal((await one.search(QUERY, 10)).count, 2);
    });
  }
});

async function openStoreWithIndex(database: Database): Promise<BookStore> {
  const store = await openStoreAt(database.url);
  await store.create({ title: 'The Iliad', author: 'Homer', year: -750 });
  await untilIndexed(store, database);
  return store;
}

/** Searches until the index has all books. */
async function untilIndexed(store: BookStore, database: Database): Promise<void> {
  for (let attempt = 0; attempt < 1_000; attempt++) {
    await store.search(QUERY, 10);
    const [state] = await database.query<{ isBehind: boolean }>(
      'select exists (select 1 from book_changes) as "isBehind"',
    );
    if (state?.isBehind === false) return;
    await sleep(10);
  }
  assert.fail('the index stays behind');
}

async function versionOf(database: Database): Promise<string> {
  const [table] = await database.query<{ version: string }>(
    `select obj_description('book_search'::regclass, 'pg_class') as version`,
  );
  return table?.version ?? assert.fail('no version');
}
