import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StoreUnavailable } from '../../src/book/book-store.ts';
import { type Book, TEXT_LENGTH_MAX } from '../../src/book/contract.ts';
import { Connection, request } from '../../testkit/connection.ts';
import { type Engine, engines } from '../../testkit/engines.ts';
import { type Service, startService, startServiceOn } from '../../testkit/service.ts';
import { openStoreAt } from '../../testkit/stores.ts';

/** Longer than any of them waits, is sent or is read on a busy machine. */
const httpLimits = { waitMs: 100_000, headersMs: 300_000, requestMs: 300_000, stallMs: 300_000 };

for (const engine of engines) {
  describe(`Requests for many books that wait for another one on ${engine.name}`, () => {
    test('are processed after one that finds no memory for its response', async () => {
      await using blocked = await BlockedService.start(engine, 500_000);
      const first = blocked.update([1]);
      await blocked.isBlocked();
      const waiting = [
        blocked.update([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21]),
      ];
      await blocked.hasReadAll();
      waiting.push(blocked.update([3]));
      await blocked.hasReadAll();
      blocked.unblock();
      assert.deepEqual(await Promise.all([first, ...waiting]), [200, 503, 200]);
    });

    test('are processed after one for which the store is unavailable', async () => {
      await using blocked = await BlockedService.start(engine);
      const first = blocked.update([1]);
      await blocked.isBlocked();
      const last = blocked.update([2]);
      await blocked.hasReadAll();
      blocked.unblock(new StoreUnavailable('57014'));
      assert.deepEqual(await Promise.all([first, last]), [503, 200]);
    });

    test('change nothing when their client has disconnected', async () => {
      await using blocked = await BlockedService.start(engine);
      const first = blocked.update([1]);
      await blocked.isBlocked();
      for (let count = 0; count < 10; count++) {
        using connection = await Connection.open(blocked.service);
        const body = '[{"id":2,"year":7}]';
        await connection.send(request('PATCH /books', [blocked.service.authorization], body));
        await blocked.hasReadAll();
        connection.reset();
      }
      await blocked.hasReadAll();
      const last = blocked.update([3]);
      await blocked.hasReadAll();
      blocked.unblock();
      assert.deepEqual(await Promise.all([first, last]), [200, 200]);
      const { data } = (await (await blocked.service.fetch('GET', '/book/2')).json()) as { data: Book };
      assert.equal(data.year, 0);
      assert.equal(blocked.updates, 2);
    });
  });
}

for (const { name: engine } of engines) {
  describe(`Requests for many books at the same time on ${engine}`, () => {
    test('wait for each other: none of 100 pairs of restores is 503, and each book is restored once', async () => {
      await using service = await startService({ engine, hasHistory: true, httpLimits });
      const [first = 0, second = 0, third = 0] = await createBooks(service, 3);
      for (let round = 0; round < 100; round++) {
        for (const id of [first, second, third]) await service.fetch('DELETE', `/book/${id}`);
        // Each restores a book of its own, and one of them the book of both.
        const statuses = await Promise.all([
          restore(service, [first, third]),
          restore(service, [second, third]),
        ]);
        assert.deepEqual(statuses.toSorted(), [200, 409]);
      }
    });

    test('wait for each other: none of 100 restores, changes and long creates is 503', async () => {
      await using service = await startService({ engine, hasHistory: true, httpLimits });
      const [restored = 0, changed = 0] = await createBooks(service, 2);
      const long = `[{}]${' '.repeat(1_100_000)}`;
      for (let year = 0; year < 100; year++) {
        await service.fetch('DELETE', `/book/${restored}`);
        const responses = [
          restore(service, [restored]),
          statusOf(service, 'PATCH', JSON.stringify([{ id: changed, year }])),
          ...(year % 10 === 0 ? [statusOf(service, 'POST', long)] : []),
        ];
        assert.deepEqual(await Promise.all(responses), year % 10 === 0 ? [200, 200, 201] : [200, 200]);
      }
    });

    test('wait until others are read: none of 4 changes with long responses is 503', async () => {
      await using service = await startService({ engine, hasHistory: true, httpLimits });
      // Of two, the responses do not fit in the memory.
      const title = '\u0001'.repeat(TEXT_LENGTH_MAX.title);
      const ids = await createBooks(service, 330, { title, author: title });
      const changes = Array.from({ length: 4 }, (_, year) => ids.map((id) => ({ id, year })));
      const bodies = changes.map((change) => JSON.stringify(change));
      const statuses = await Promise.all(bodies.map((body) => statusOf(service, 'PATCH', body)));
      assert.deepEqual(new Set(statuses), new Set([200]));
    });

    test('need memory for their own books: a restore and a change of 10,000 leave enough for another one', async () => {
      await using service = await startService({ engine, hasHistory: true, httpLimits });
      const ids = await createBooks(service, 10_000);
      const remove = ids.map((id) => ({ id, deleted: true }));
      assert.equal(await statusOf(service, 'PATCH', JSON.stringify(remove)), 200);
      const [another = 0] = await createBooks(service, 1);
      await service.fetch('DELETE', `/book/${another}`);
      const others = await createBooks(service, 10_000);
      const statuses = await Promise.all([
        restore(service, ids),
        statusOf(service, 'PATCH', JSON.stringify(others.map((id) => ({ id, year: 7 })))),
        restore(service, [another]),
      ]);
      assert.deepEqual(statuses, [200, 200, 200]);
    });
  });
}

/** A service with 21 books, whose first PATCH /books takes as long as the test likes. */
class BlockedService implements AsyncDisposable {
  readonly service: Service;
  /** The updates that the store has been called for. */
  updates = 0;
  readonly #begun = Promise.withResolvers<void>();
  readonly #end = Promise.withResolvers<Error | undefined>();
  readonly #resources: AsyncDisposableStack;

  private constructor(service: Service, resources: AsyncDisposableStack) {
    this.service = service;
    this.#resources = resources;
  }

  /** @param unreadBytesAtOnce the memory of all responses */
  static async start(engine: Engine, unreadBytesAtOnce = 32_000_000): Promise<BlockedService> {
    await using stack = new AsyncDisposableStack();
    const { dbUrl } = stack.use(await engine.createAddress());
    const store = stack.use(await openStoreAt(dbUrl));
    const service = stack.use(await startServiceOn(store, { ...httpLimits, unreadBytesAtOnce }));
    const blocked = new BlockedService(service, stack.move());
    await createBooks(service, 21);
    await service.fetch('PUT', '/book/2', '{"year":0}');
    const updateMany = store.updateMany.bind(store);
    store.updateMany = async (updates) => {
      const isFirst = ++blocked.updates === 1;
      blocked.#begun.resolve();
      const error = await blocked.#end.promise;
      if (isFirst && error) throw error;
      return updateMany(updates);
    };
    return blocked;
  }

  /** @returns the status */
  update(ids: readonly number[]): Promise<number> {
    return statusOf(this.service, 'PATCH', JSON.stringify(ids.map((id) => ({ id, year: 5 }))));
  }

  isBlocked(): Promise<void> {
    return this.#begun.promise;
  }

  /** After these responses the service has read what was sent before. */
  async hasReadAll(): Promise<void> {
    for (let round = 0; round < 3; round++) await this.service.fetch('GET', '/nowhere');
  }

  /** @param error with which the first update ends */
  unblock(error?: Error): void {
    this.#end.resolve(error);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.unblock();
    await this.#resources.disposeAsync();
  }
}

/** @returns their ids */
async function createBooks(service: Service, count: number, fields: object = {}): Promise<number[]> {
  const body = JSON.stringify(
    Array.from({ length: count }, (_, year) => ({ title: `Volume ${year}`, year, ...fields })),
  );
  const response = await service.fetch('POST', '/books', body);
  assert.equal(response.status, 201);
  return ((await response.json()) as { data: Book[] }).data.map(({ id }) => id);
}

async function restore(service: Service, ids: readonly number[]): Promise<number> {
  return (await service.fetch('POST', '/books/restore', JSON.stringify(ids))).status;
}

async function statusOf(service: Service, method: 'POST' | 'PATCH', body: string): Promise<number> {
  return (await service.fetch(method, '/books', body)).status;
}
