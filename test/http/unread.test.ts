import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, request } from '../../testkit/connection.ts';
import { engines } from '../../testkit/engines.ts';
import { createLongStore } from '../../testkit/long-books.ts';
import { scrape } from '../../testkit/scrape.ts';
import { type Service, startService, startServiceOn } from '../../testkit/service.ts';
import { createMany, openStoreAt } from '../../testkit/stores.ts';
import { observing } from '../store/observing.ts';

for (const engine of engines) {
  describe(`What nobody waits for, on ${engine.name},`, () => {
    test('is not read: pages and lists of clients that have disconnected before their turn', async () => {
      await using address = await engine.createAddress();
      const sizes: number[] = [];
      await using store = await openStoreAt(address.dbUrl, observing('list', sizes));
      await createMany(
        store,
        Array.from({ length: 200 }, () => ({ title: '', author: '', year: 0 })),
      );
      // As long as the machine is busy.
      const busy = Promise.withResolvers<void>();
      const list = store.list.bind(store);
      const calls = { waiting: 0 };
      store.list = async (...call) => {
        calls.waiting++;
        await busy.promise;
        return list(...call);
      };
      await using service = await startServiceOn(store, { waitMs: 100_000 });
      let expected = 0;
      for (let id = 1; id <= 50; id++) {
        for (const target of [`/books?limit=100&from=${id}`, '/books']) {
          using connection = await Connection.open(service);
          await connection.send(request(`GET ${target}`, [service.authorization]));
          expected++;
          while (calls.waiting < expected) await sleep(1);
          connection.reset();
        }
      }
      // A later response shows that the service has noticed them.
      for (let later = 0; later < 50; later++) await service.fetch('GET', '/healthz');
      const last = service.fetch('GET', '/books?limit=1');
      while (calls.waiting < 101) await sleep(1);
      busy.resolve();
      assert.equal((await last).status, 200);
      assert.deepEqual(sizes, [1]);
    });
  });

  test(`Pages and lists that have waited too long for the reading of others are 503, and not read, on ${engine.name}`, async () => {
    await using address = await engine.createAddress();
    const sizes: number[] = [];
    await using store = await openStoreAt(address.dbUrl, observing('list', sizes));
    const busy = Promise.withResolvers<void>();
    const list = store.list.bind(store);
    let calls = 0;
    store.list = async (...call) => {
      calls++;
      await busy.promise;
      return list(...call);
    };
    const waitMs = 100;
    await using service = await startServiceOn(store, { waitMs });
    const targets = ['/books', '/books?limit=5', '/books?limit=5&from=3'];
    const waiting = targets.map((target) => service.fetch('GET', target));
    while (calls < targets.length) await sleep(1);
    await sleep(2 * waitMs);
    busy.resolve();
    for (const { status } of await Promise.all(waiting)) assert.equal(status, 503);
    assert.deepEqual(sizes, []);
  });

  describe(`While clients do not read, on ${engine.name},`, () => {
    test('pages, lists and searches are 503 without being read', async () => {
      await using address = await createLongStore(engine, 20);
      await using store = await openStoreAt(address.dbUrl);
      const calls = { read: 0, searches: 0 };
      const list = store.list.bind(store);
      const search = store.search.bind(store);
      store.list = async (after, options) => {
        const page = await list(after, options);
        if (after === undefined || after === 1) calls.read++;
        return page;
      };
      store.search = (...call) => {
        calls.searches++;
        return search(...call);
      };
      await using service = await startServiceOn(store, { unreadBytesAtOnce: 300 * 1_024, stallMs: 300_000 });
      using stalled = await Connection.open(service);
      await stalled.send(request('GET /books', [service.authorization]));
      await stalled.beginning();
      assert.equal(calls.read, 1);
      for (const target of ['/books', '/books?limit=1000&from=2', '/books?sort=year'])
        assert.equal((await service.fetch('GET', target)).status, 503);
      assert.deepEqual([calls.read, calls.searches], [1, 0]);
    });

    test('long sorted lists take no more memory than all responses may', async () => {
      await using address = await createLongStore(engine, 20);
      const unreadBytesAtOnce = 8 * 1_024 * 1_024;
      await using service = await startService({
        dbUrl: address.dbUrl,
        httpLimits: { unreadBytesAtOnce, stallMs: 300_000 },
      });
      // Sorted by year, the first thousand books are short.
      const short = JSON.stringify(Array.from({ length: 1_000 }, () => ({ year: -1 })));
      assert.equal((await service.fetch('POST', '/books', short)).status, 201);
      // 503 until there is an index.
      while ((await service.fetch('GET', '/books?sort=year&limit=1')).status !== 200) await sleep(50);
      using stack = new DisposableStack();
      for (let count = 0; count < 20; count++) {
        const connection = stack.use(await Connection.open(service));
        await connection.send(request('GET /books?sort=year', [service.authorization]));
        await connection.beginning();
      }
      for (let look = 0; look < 20; look++) {
        await sleep(50);
        const held = await heldBytes(service);
        assert.ok(held <= unreadBytesAtOnce, `${held} bytes`);
      }
      // One that would need more than is left is not begun.
      for (let count = 0; count < 20; count++) {
        const connection = stack.use(await Connection.open(service));
        await connection.send(request('GET /books?sort=year', [service.authorization]));
        await connection.beginning();
      }
      assert.equal((await service.fetch('GET', '/books?sort=year')).status, 503);
    });
  });
}

async function heldBytes(service: Service): Promise<number> {
  const samples = (await scrape(service.url)).get('bookkeeping_http_held_bytes')?.samples ?? [];
  return samples.find(({ labels }) => labels.kind === 'responses')?.value ?? NaN;
}
