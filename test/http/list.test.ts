import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Book } from '../../src/book/book.ts';
import { engines } from '../../testkit/engines.ts';
import { type Service, startService, startServiceOn } from '../../testkit/service.ts';
import { createMany, openStoreAt } from '../../testkit/stores.ts';

for (const engine of engines) {
  describe(`GET /books on ${engine.name}`, () => {
    test('reads 500 books first, then as many as have 104 KiB, up to 2,000', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const limits: (number | undefined)[] = [];
      const list = store.list.bind(store);
      store.list = (after, limit) => {
        limits.push(limit);
        return list(after, limit);
      };
      await using service = await startServiceOn(store);
      await createMany(store, makeBooks(4_400, 5));
      await readBooks(service);
      // The first ones show how long the books are.
      assert.deepEqual(limits, [10, 100, 500, 2_000, 2_000]);

      await createMany(store, makeBooks(3_000, 600));
      limits.length = 0;
      await readBooks(service);
      // The third page ends with 100 of the longer books, so the fourth has fewer than 2,000, and later ones 104 KiB.
      const [fourth = 0] = limits.splice(3, 1);
      assert.ok(fourth > 1_000 && fourth < 1_600, `${fourth} books`);
      assert.deepEqual(limits.slice(0, 3), [500, 2_000, 2_000]);
      assert.deepEqual(new Set(limits.slice(3)), new Set([164]));
    });

    test('has room for 128 clients at the same time', async () => {
      await using service = await startService({ engine: engine.name });
      const books = JSON.stringify(makeBooks(5_000, 30));
      assert.equal((await service.fetch('POST', '/books', books)).status, 201);
      await readBooks(service);
      const lists = await Promise.all(Array.from({ length: 128 }, () => service.fetch('GET', '/books')));
      assert.ok(lists.every(({ status }) => status === 200));
      for (const list of lists) assert.equal(((await list.json()) as { data: Book[] }).data.length, 5_000);
    });

    test('returns every book that exists throughout once, in ascending order of id, while others write', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      await using service = await startServiceOn(store);
      const ids = (await createMany(store, makeBooks(8_000, 30))).map(({ id }) => id);
      const staying = ids.filter((id) => id % 3 !== 0);

      const writing = new AbortController();
      const write = async () => {
        for (let start = 0; start < ids.length; start += 80) {
          const some = ids.slice(start, start + 80);
          await Promise.all([
            store.create({ title: 'new', author: '', year: 0 }),
            ...some.map((id) =>
              id % 3 === 0 ? store.delete(id) : store.update(id, { title: 'x'.repeat(id % 300) }),
            ),
          ]);
        }
      };
      const written = write().finally(() => writing.abort());
      do {
        const met = (await readBooks(service)).map(({ id }) => id);
        assert.deepEqual(
          met,
          [...new Set(met)].toSorted((a, b) => a - b),
        );
        const isMet = new Set(met);
        assert.deepEqual(
          staying.filter((id) => !isMet.has(id)),
          [],
        );
      } while (!writing.signal.aborted);
      await written;
    });
  });
}

function makeBooks(count: number, titleLength: number): object[] {
  return Array.from({ length: count }, (_, year) => ({ title: 'x'.repeat(titleLength), author: '', year }));
}

async function readBooks(service: Service): Promise<Book[]> {
  const { data } = (await (await service.fetch('GET', '/books')).json()) as { data: Book[] };
  return data;
}
