import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { YEAR_MAX } from '../../src/book/book.ts';
import { type BookStore, StoreUnavailable } from '../../src/book/book-store.ts';
import { BATCH_LIMITS } from '../../src/store/limits.ts';
import type { StoreObserver } from '../../src/store/observer.ts';
import { engines } from '../../testkit/engines.ts';
import { createDatabase } from '../../testkit/postgres.ts';
import { createMany, openStoreAt } from '../../testkit/stores.ts';

const { batchItemsMax, queueItemsMax } = BATCH_LIMITS;
const EXCESS = 100;
const MEBIBYTE = 1_024 * 1_024;

/** The calls that are batched, each with the number of its own book. */
const CALLS: Readonly<Record<string, (store: BookStore, number: number) => Promise<unknown>>> = {
  create: (store, year) => store.create({ title: '', author: '', year }),
  find: (store, id) => store.find(id),
  update: (store, id) => store.update(id, { title: 'x', author: 'y' }),
  delete: (store, id) => store.delete(id),
  list: (store) => store.list(),
};

for (const engine of engines) {
  describe(`The limits of a store on ${engine.name}`, () => {
    for (const [name, call] of Object.entries(CALLS)) {
      test(`of ${name}, a batch has ${batchItemsMax} calls, and a queue ${queueItemsMax}; one more is rejected`, async () => {
        await using address = await engine.createAddress();
        const sizes: number[] = [];
        const observer: StoreObserver = {
          operation: () => (calls) => sizes.push(calls),
          pool: () => {},
          part: () => () => {},
        };
        await using store = await openStoreAt(address.dbUrl, observer);
        // It runs at once, and takes no place in the queue.
        const first = call(store, 1);
        const others = Array.from({ length: queueItemsMax + EXCESS }, (_, index) => call(store, index + 1));
        const results = await Promise.allSettled([first, ...others]);
        const rejections = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
        assert.equal(rejections.length, EXCESS);
        for (const error of rejections) {
          assert.equal((error as Error).message, 'the store is unavailable (queue full)');
        }
        assert.equal(Math.max(...sizes), batchItemsMax);
        await call(store, 1);
      });
    }
  });
}

test('The log of SQLite is checkpointed before it grows far beyond 1,000 pages', async () => {
  await using address = await engines[0]?.createAddress();
  assert.ok(address);
  await using store = await openStoreAt(address.dbUrl);
  const title = 'x'.repeat(MEBIBYTE);
  for (let books = 0; books < 40; books++) await store.create({ title, author: '', year: 0 });
  const { size } = await stat(`${address.dbUrl.slice('sqlite:'.length)}-wal`);
  assert.ok(size > 0 && size < 12 * MEBIBYTE, `${size} bytes`);
});

/** A connection that is closed at the end of the test. */
class Holder extends Client implements AsyncDisposable {
  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }
}

test('A PostgreSQL store has 13 connections, and rejects every call whose statement takes too long', async () => {
  await using database = await createDatabase();
  await using store = await openStoreAt(database.url);
  const fields = { title: '', author: '', year: 0 };
  const book = await store.create(fields);
  const query = { sort: 'title', isDescending: false, yearFrom: -YEAR_MAX, yearTo: YEAR_MAX } as const;
  await store.search(query, 1);
  await using holder = new Holder(database.url);
  await holder.connect();
  await holder.query('begin; lock table books in access exclusive mode');

  const calls = [
    ...Object.values(CALLS).map((call) => call(store, book.id)),
    store.updateExpected(book, { year: 1 }),
    store.deleteExpected(book),
    createMany(store, [fields]),
    ...Array.from({ length: 20 }, () => store.search(query, 1)),
  ];
  const ended = new AbortController();
  const settled = Promise.allSettled(calls).finally(() => ended.abort());
  let most = 0;
  while (!ended.signal.aborted) {
    const [row] = await database.query(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and application_name = 'bookkeeping'`,
    );
    most = Math.max(most, Number(row?.count));
    await sleep(50);
  }
  assert.ok(most > 8 && most <= 13, `${most} connections`);
  for (const result of await settled) {
    assert.ok(result.status === 'rejected' && result.reason instanceof StoreUnavailable);
  }
  await holder.query('commit');
  assert.deepEqual(await store.find(book.id), book);
});
