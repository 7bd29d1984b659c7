import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BookStore, type ListPage, StoreUnavailable } from '../../src/book/book-store.ts';
import type { BookSearch } from '../../src/search/book-search.ts';
import { assertError } from '../../testkit/assertions.ts';
import { Connection, Cut, type RawResponse, request } from '../../testkit/connection.ts';
import { parseLog } from '../../testkit/log.ts';
import { LOGIN, type Service, startService, startServiceOn, TITLE } from '../../testkit/service.ts';

const BODY = JSON.stringify({ title: TITLE });

/** Every request that needs the store. */
const REQUESTS = [
  ['POST /book', BODY],
  ['POST /books', `[${BODY}]`],
  ['PATCH /books', '[{"id":1}]'],
  ['GET /books', ''],
  ['GET /book/1', ''],
  ['PUT /book/1', BODY],
  ['PUT /book/1', '{'],
  ['DELETE /book/1', ''],
  ['GET /readyz', ''],
] as const;

const FIRST_PAGE: ListPage = { json: Buffer.from('{"id":1,"title":"","author":"","year":0}'), last: 1 };

describe('500 Internal server error', () => {
  for (const [name, fail] of [
    ['rejects', () => Promise.reject(new TypeError('a defect of the store'))],
    [
      'throws',
      () => {
        throw new TypeError('a defect of the store');
      },
    ],
  ] as const) {
    test(`is the response when the store ${name} because of a defect; the defect is logged once with its stack`, async () => {
      await using service = await startServiceOn(storeThat(fail));
      for (const [start, body] of REQUESTS) {
        assertError(await ask(service, start, body), 500, 'Internal server error');
      }
      const defects = parseLog(service.log).filter(({ level }) => level === 50);
      assert.equal(defects.length, REQUESTS.length);
      for (const { err } of defects) {
        assert.equal(err?.type, 'TypeError');
        assert.equal(err?.message, 'a defect of the store');
        assert.match(err?.stack ?? '', /failures\.test\.ts/);
      }
    });
  }

  test('leaves the connection open', async () => {
    await using service = await startServiceOn(storeThat(() => Promise.reject(new TypeError('a defect'))));
    using connection = await Connection.open(service);
    for (const [start, body] of REQUESTS) {
      await connection.send(request(start, [service.authorization], body));
      assertError(await connection.response(), 500, 'Internal server error');
    }
  });

  test('is Could not generate token when the secret is empty', async () => {
    await using service = await startService({ secret: '' });
    assertError(await ask(service, 'POST /token', LOGIN), 500, 'Could not generate token');
    assert.equal(parseLog(service.log).filter(({ level }) => level === 50).length, 1);
    assertError(await ask(service, 'GET /books', ''), 401, 'Invalid token');
  });
});

describe('503 Service unavailable, with Retry-After', () => {
  test('is the response when the store is unavailable, also to DELETE; only the log has the reason', async () => {
    await using service = await startServiceOn(
      storeThat(() => Promise.reject(new StoreUnavailable('OUT_OF_REACH'))),
    );
    for (const [start, body] of REQUESTS) {
      const response = await ask(service, start, body);
      assertError(response, 503, 'Service unavailable');
      assert.equal(response.headers.get('retry-after'), '1');
    }
    const failures = parseLog(service.log).filter(({ level }) => level > 30);
    assert.deepEqual(
      failures.map(({ level, status, reason, err }) => ({ level, status, reason, err })),
      REQUESTS.map(() => ({ level: 50, status: 503, reason: 'OUT_OF_REACH', err: undefined })),
    );
  });

  test('is the response to PATCH /books that has waited too long for another one', async () => {
    const slow = Promise.withResolvers<Uint8Array[]>();
    const started = Promise.withResolvers<void>();
    const updateMany = () => {
      started.resolve();
      return slow.promise;
    };
    const waitMs = 100;
    const store = { ...storeThat(() => slow.promise as never), updateMany };
    await using service = await startServiceOn(store, { waitMs });
    const patch = () => service.fetch('PATCH', '/books', '[{"id":1,"deleted":true}]');
    const first = patch();
    await started.promise;
    // Their connections are open, so that they are sent at once.
    using stack = new DisposableStack();
    const connections = [await Connection.open(service), await Connection.open(service)];
    const waiting = request('PATCH /books', [service.authorization], '[{"id":1,"deleted":true}]');
    for (const connection of connections) await stack.use(connection).send(waiting);
    // After these responses the service has read the requests that were sent before.
    for (let round = 0; round < 3; round++) await service.fetch('GET', '/nowhere');
    await sleep(2 * waitMs);
    slow.resolve([Buffer.from('null')]);
    assert.equal((await first).status, 200);
    for (const connection of connections) assert.equal((await connection.response()).status, 503);
    assert.equal((await patch()).status, 200);
  });

  test('is not the response to requests that do not need the store', async () => {
    await using service = await startServiceOn(storeThat(() => Promise.reject(new StoreUnavailable('X'))));
    assert.equal((await ask(service, 'POST /token', LOGIN)).status, 200);
    assert.equal((await ask(service, 'GET /healthz', '')).status, 200);
    assertError(await ask(service, 'GET /book/x', ''), 404, 'Book not found');
    assertError(await ask(service, 'DELETE /book/x', ''), 404, 'Book not found');
    assertError(await ask(service, 'POST /book', '{'), 400, 'Invalid input');
    assertError(await ask(service, 'GET /nowhere', ''), 404, 'Not found');
  });
});

describe('A store that fails in the middle of the list', () => {
  for (const error of [new StoreUnavailable('OUT_OF_REACH'), new TypeError('a defect of the store')]) {
    test(`closes the connection, so that no client takes a part for the whole: ${error.name}`, async () => {
      await using service = await startServiceOn(
        storeThat(() => Promise.reject(error), [FIRST_PAGE, FIRST_PAGE]),
      );
      using connection = await Connection.open(service);
      await connection.send(request('GET /books', [service.authorization]));
      await assert.rejects(connection.response(), Cut);
      const failures = parseLog(service.log).filter((line) => line.level > 30);
      assert.deepEqual(
        failures.map((line) => [line.level, line.msg]),
        [[50, 'the response was truncated']],
      );
    });
  }

  test('does not affect the response to HEAD', async () => {
    await using service = await startServiceOn(
      storeThat(() => Promise.reject(new StoreUnavailable('X')), [FIRST_PAGE]),
    );
    using connection = await Connection.open(service);
    await connection.send(request('HEAD /books', [service.authorization]) + request('GET /nowhere'));
    assert.equal((await connection.response(true)).status, 200);
    assertError(await connection.response(), 404, 'Not found');
    assert.ok(parseLog(service.log).every(({ level }) => level < 50));
  });
});

/** A store that returns these pages of a list, and fails otherwise. */
function storeThat(fail: () => Promise<never>, pages: ListPage[] = []): BookStore & BookSearch {
  const [first, ...later] = pages;
  return {
    create: fail,
    createOnce: fail,
    createMany: fail,
    updateMany: fail,
    find: fail,
    // The first page is read several times, to find out how long the books are.
    list: async (after) => (after === undefined ? first : later.shift()) ?? fail(),
    search: fail,
    count: fail,
    written: () => {},
    update: fail,
    delete: fail,
    updateExpected: fail,
    deleteExpected: fail,
    check: fail,
    [Symbol.asyncDispose]: async () => {},
  };
}

async function ask(service: Service, start: string, body: string): Promise<RawResponse> {
  using connection = await Connection.open(service);
  await connection.send(request(start, [service.authorization], body));
  return await connection.response();
}
