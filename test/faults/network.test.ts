import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { YEAR_MAX } from '../../src/book/book.ts';
import { type BookStore, StoreUnavailable } from '../../src/book/book-store.ts';
import { createDatabase } from '../../testkit/postgres.ts';
import { Relay } from '../../testkit/relay.ts';
import { openStoreAt, searchAll } from '../../testkit/stores.ts';
import { withPort } from '../../testkit/with-port.ts';

const BOOK = { title: 'Titus Groan', author: 'Mervyn Peake', year: 1946 };
const TITUS = {
  q: 'titus',
  sort: 'title',
  isDescending: false,
  yearFrom: -YEAR_MAX,
  yearTo: YEAR_MAX,
} as const;

describe('When the network to PostgreSQL stalls', () => {
  test('in a transaction that locks the table, the server ends it, and other processes can write', async () => {
    await using database = await createDatabase();
    await using relay = await Relay.open(Number(new URL(database.url).port));
    await using store = await openStoreAt(withPort(database.url, relay.port));
    await using other = await openStoreAt(database.url);
    await database.query(
      "insert into books (id, title, author, year) select id, '', '', 0 from generate_series(1, 5) as id",
    );
    relay.truncate = (piece) => {
      // The lock is granted, and the transaction does not continue.
      if (piece.includes('lock table')) setImmediate(() => relay.stall());
      return undefined;
    };
    await assert.rejects(store.create(BOOK), StoreUnavailable);
    await success(() => other.create(BOOK));
    relay.resume();
    await success(() => store.create(BOOK));
  });

  test('for existing connections only, a call abandons those that were idle', async () => {
    await using database = await createDatabase();
    await using relay = await Relay.open(Number(new URL(database.url).port));
    await using store = await openStoreAt(withPort(database.url, relay.port));
    const { id } = await store.create(BOOK);
    // Each uses a connection of its own.
    await Promise.all([
      store.create(BOOK),
      store.find(id),
      store.list(),
      store.update(id, { year: 1 }),
      store.delete(id),
      store.search(TITUS, 1),
    ]);
    relay.forget();
    await assert.rejects(store.find(id), StoreUnavailable);
    assert.equal(await store.find(id), undefined);
    assert.equal((await searchAll(store, TITUS, 1)).length, 1);
  });
});

/** Repeats a call until the store is available. */
async function success(call: () => ReturnType<BookStore['create']>): Promise<void> {
  for (;;) {
    try {
      await call();
      return;
    } catch (error) {
      assert.ok(error instanceof StoreUnavailable, String(error));
    }
  }
}
