import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type BookStore, StoreUnavailable } from '../../src/book/book-store.ts';
import type { Book, BookFields } from '../../src/book/contract.ts';
import { engines } from '../../testkit/engines.ts';
import { NO_OBSERVER } from '../../testkit/no-observer.ts';
import { assertSameJson, engineAt, listBooks, openStoreAt } from '../../testkit/stores.ts';

const DUNE: BookFields = { title: 'Dune', author: 'Frank Herbert', year: 1965 };
const ROUNDS = 20;
/** More than a batch has. */
const CALLERS = 1_200;

for (const engine of engines) {
  describe(`Concurrent calls on ${engine.name}`, () => {
    test('each call returns the result for its own arguments', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const titles = Array.from({ length: CALLERS }, (_, index) => `Volume ${index}`);

      const books = await Promise.all(titles.map((title) => store.create({ ...DUNE, title })));
      assert.deepEqual(
        books.map(({ title }) => title),
        titles,
      );
      assert.equal(new Set(books.map(({ id }) => id)).size, CALLERS);

      assertSameJson(await Promise.all(books.map(({ id }) => store.find(id))), books);

      const aged = books.map((book) => ({ ...book, year: book.id }));
      assertSameJson(await Promise.all(books.map(({ id }) => store.update(id, { year: id }))), aged);
      assertSameJson(
        await listBooks(store),
        aged.toSorted((a, b) => a.id - b.id),
      );

      const deletions = await Promise.all(books.map(({ id }) => store.delete(id)));
      assert.ok(deletions.every((wasThere) => wasThere));
      assertSameJson(await listBooks(store), []);
    });

    test('creates of equal books store one book each', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const books = await Promise.all(Array.from({ length: 100 }, () => store.create(DUNE)));

      assert.equal(new Set(books.map(({ id }) => id)).size, 100);
      assertSameJson(
        await listBooks(store),
        books.toSorted((a, b) => a.id - b.id),
      );
    });

    test('a call made after another has resolved sees its effect', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      await Promise.all(Array.from({ length: 100 }, () => expectEffects(store, store)));
    });

    test('a call made after a call of another store has resolved sees its effect', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      await using neighbour = await openStoreAt(address.dbUrl);
      for (let round = 0; round < ROUNDS; round++) {
        await expectEffects(store, neighbour);
        await expectEffects(neighbour, store);
      }
    });

    test('updates of the same books from several stores in different orders all succeed', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      await using second = await openStoreAt(address.dbUrl);
      await using third = await openStoreAt(address.dbUrl);
      const creates = Array.from({ length: 200 }, () => store.create(DUNE));
      const ids = (await Promise.all(creates)).map(({ id }) => id);
      for (let year = 0; year < 5; year++) {
        const calls = [store, second, third].map((each) =>
          shuffle(ids).map((id) => each.update(id, { year })),
        );
        for (const book of await Promise.all(calls.flat())) assert.equal(book?.year, year);
      }
    });

    test('updates of different fields all survive, also from two stores', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      await using neighbour = await openStoreAt(address.dbUrl);
      const { id } = await store.create(DUNE);
      for (let round = 0; round < ROUNDS; round++) {
        const changed = { title: `title ${round}`, author: `author ${round}`, year: round };
        await Promise.all([
          store.update(id, { title: changed.title }),
          store.update(id, { author: changed.author }),
          neighbour.update(id, { year: changed.year }),
        ]);
        assertSameJson(await store.find(id), { id, ...changed });
      }
    });

    test('updates of one field from one store take effect in the order of the calls', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const { id } = await store.create(DUNE);
      const years = Array.from({ length: ROUNDS }, (_, index) => index);

      const books = await Promise.all(years.map((year) => store.update(id, { year })));
      assert.deepEqual(
        books.map((book) => book?.year),
        years,
      );
      assert.equal((await store.find(id))?.year, years.at(-1));
    });

    test('exactly one of several updates that expect the same book succeeds, also from two stores', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      await using neighbour = await openStoreAt(address.dbUrl);
      let book = await store.create(DUNE);
      for (let round = 0; round < ROUNDS; round++) {
        const expected = book;
        const results = await Promise.all(
          Array.from({ length: 32 }, (_, writer) =>
            (writer % 2 === 0 ? store : neighbour).updateExpected(expected, { year: 32 * round + writer }),
          ),
        );
        const [winner, ...others] = results.filter((result) => result !== undefined);
        assert.ok(winner && others.length === 0);
        assertSameJson(await store.find(book.id), winner);
        book = winner;
      }
      const deletions = await Promise.all([store, neighbour].map((one) => one.deleteExpected(book)));
      assert.equal(deletions.filter((wasThere) => wasThere).length, 1);
    });

    test('exactly one of several deletes of a book returns true', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      await using neighbour = await openStoreAt(address.dbUrl);
      for (let round = 0; round < ROUNDS; round++) {
        const { id } = await store.create(DUNE);
        const calls = [store, neighbour, store, neighbour].map((each) => each.delete(id));
        const results = await Promise.all(calls);
        assert.equal(results.filter((wasThere) => wasThere).length, 1);
      }
    });

    test('an update concurrent with a delete returns the updated book or undefined', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      await using neighbour = await openStoreAt(address.dbUrl);
      for (let round = 0; round < ROUNDS; round++) {
        const book = await store.create(DUNE);
        const [updated, wasThere] = await Promise.all([
          neighbour.update(book.id, { year: round }),
          store.delete(book.id),
        ]);
        assert.ok(wasThere);
        if (updated) assertSameJson(updated, { ...book, year: round });
        assert.equal(await neighbour.find(book.id), undefined);
      }
    });
  });

  describe(`Closing a store on ${engine.name}`, () => {
    test('waits for pending calls', async () => {
      await using address = await engine.createAddress();
      const store = await openStoreAt(address.dbUrl);
      const existing = await store.create(DUNE);
      const creates = Array.from({ length: 500 }, () => store.create(DUNE));
      const others = [
        store.find(existing.id),
        store.update(existing.id, { year: 1966 }),
        store.list(),
      ] as const;
      await store[Symbol.asyncDispose]();

      const books: Book[] = (await Promise.all(creates)).toSorted((first, second) => first.id - second.id);
      assert.ok((await Promise.all(others)).every((result) => result !== undefined));
      await using reopened = await openStoreAt(address.dbUrl);
      assertSameJson(await listBooks(reopened), [{ ...existing, year: 1966 }, ...books]);
    });

    test('rejects later calls, including those made while it closes', async () => {
      await using address = await engine.createAddress();
      // Without its searches, which are closed before it.
      const store = await (await engineAt(address.dbUrl)).openStore(NO_OBSERVER);
      const { id } = await store.create(DUNE);
      const callAll = () =>
        Promise.allSettled([
          store.create(DUNE),
          store.find(id),
          store.list(),
          store.update(id, { year: 1 }),
          store.delete(id),
        ]);
      const closing = store[Symbol.asyncDispose]();
      const callsMeanwhile = callAll();
      await closing;

      for (const call of [...(await callsMeanwhile), ...(await callAll())]) {
        assert.ok(call.status === 'rejected' && call.reason instanceof StoreUnavailable);
      }
      await using reopened = await openStoreAt(address.dbUrl);
      assertSameJson(await listBooks(reopened), [{ id, ...DUNE }]);
    });
  });
}

/** Expects that each store sees the acknowledged writes of the other. */
async function expectEffects(writer: BookStore, reader: BookStore): Promise<void> {
  const { id } = await writer.create(DUNE);
  assertSameJson(await reader.find(id), { id, ...DUNE });
  await reader.update(id, { year: 1966 });
  assertSameJson(await writer.find(id), { id, ...DUNE, year: 1966 });
  await writer.delete(id);
  assert.equal(await reader.find(id), undefined);
}

function shuffle<Item>(items: readonly Item[]): Item[] {
  const drawn = items.map((item) => ({ item, lot: Math.random() }));
  return drawn.toSorted((a, b) => a.lot - b.lot).map(({ item }) => item);
}
