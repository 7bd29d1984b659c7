import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BookStore } from '../../src/book/book-store.ts';
import type { Book } from '../../src/book/contract.ts';
import type { BookSearch } from '../../src/search/book-search.ts';
import { assertError, assertSuccess } from '../../testkit/assertions.ts';
import { Connection, request } from '../../testkit/connection.ts';
import { engines } from '../../testkit/engines.ts';
import { createLongStore } from '../../testkit/long-books.ts';
import { type Service, startService, startServiceOn } from '../../testkit/service.ts';

const MEBIBYTE = 1_024 * 1_024;
const SEARCHES_MAX = 500;
const BOOK: Book = { id: 1, title: '', author: '', year: 0 };

describe('Connections', () => {
  test('beyond those that get 503 are closed without a response', async () => {
    await using service = await startService({ httpLimits: { connections: 1, rejectedConnections: 3 } });
    using _ = await Connection.open(service);
    using stack = new DisposableStack();
    const opening = Array.from({ length: 20 }, () => Connection.open(service));
    const connections = (await Promise.all(opening)).map((connection) => stack.use(connection));
    const received = await Promise.all(connections.map((connection) => connection.rest()));
    for (const bytes of received) assert.match(bytes, /^(HTTP\/1\.1 503 |$)/);
    assert.ok(received.includes(''));
  });

  test('without a request are closed after the idle time', async () => {
    await using service = await startService({ httpLimits: { idleMs: 200 } });
    using connection = await Connection.open(service);
    await connection.send(request('GET /nowhere'));
    assert.equal((await connection.response()).status, 404);
    assert.equal(await connection.rest(), '');
  });

  for (const blank of ['\r\n', '\r', '\n']) {
    test(`with ${JSON.stringify(blank)} instead of a further request are closed, too`, async () => {
      await using service = await startService({ httpLimits: { idleMs: 200, headersMs: 30_000 } });
      using connection = await Connection.open(service);
      await connection.send(request('GET /nowhere'));
      assert.equal((await connection.response()).status, 404);
      const ended = new AbortController();
      const rest = connection.rest().finally(() => ended.abort());
      for (let wait = 0; !ended.signal.aborted && wait < 25_000; wait += 20) {
        await connection.send(blank);
        await sleep(20);
      }
      assert.ok(ended.signal.aborted);
      assert.equal(await rest, '');
    });
  }

  test('are not closed while the headers of a further request arrive', async () => {
    const idleMs = 200;
    await using service = await startService({ httpLimits: { idleMs } });
    using connection = await Connection.open(service);
    const [first = '', rest = ''] = request('GET /nowhere').split(/(?=Host)/);
    await connection.send(`${first}${rest}\r\n${first}`);
    assert.equal((await connection.response()).status, 404);
    await sleep(5 * idleMs);
    await connection.send(rest);
    assert.equal((await connection.response()).status, 404);
  });

  test('are closed 5 seconds after a 413 when the client sends no more of the body', async () => {
    await using service = await startService();
    using connection = await Connection.open(service);
    await connection.send(request('POST /book', [service.authorization, `Content-Length: ${2 * MEBIBYTE}`]));
    await connection.send('[');
    assertError(await connection.response(), 413, 'Payload too large');
    assert.equal(await connection.rest(), '');
  });
});

test('Pipelined requests beyond those that may wait on all connections get 503 until fewer wait; no other request does', async () => {
  const released = [Promise.withResolvers<Book>(), Promise.withResolvers<Book>()];
  const find: BookStore['find'] = (id) => released[id - 1]?.promise ?? Promise.resolve(undefined);
  await using service = await startServiceOn({ find } as BookStore, { waitingRequests: 100 });
  const small = request('GET /nowhere');
  const statusOfSecond = async () => {
    using connection = await Connection.open(service);
    await connection.send(small.repeat(2));
    assert.equal((await connection.response()).status, 404);
    return (await connection.response()).status;
  };
  const becomes = async (status: number) => {
    for (let tries = 0; tries < 1_000; tries++) if ((await statusOfSecond()) === status) return;
    assert.fail(`never ${status}`);
  };
  using first = await Connection.open(service);
  using second = await Connection.open(service);
  await first.send(request('GET /book/1', [service.authorization]) + small.repeat(50));
  await second.send(request('GET /book/2', [service.authorization]) + small.repeat(50));
  await becomes(503);
  assert.equal((await service.fetch('GET', '/nowhere')).status, 404);
  // The requests of a connection that has ended wait no longer.
  first.reset();
  released[0]?.resolve(BOOK);
  await becomes(404);
  released[1]?.resolve(BOOK);
  assert.equal((await second.response()).status, 200);
  for (let count = 0; count < 50; count++) assert.equal((await second.response()).status, 404);
  await second.send(small.repeat(100));
  for (let count = 0; count < 100; count++) assert.equal((await second.response()).status, 404);
});

test(`${SEARCHES_MAX} searches run concurrently; one more gets 503 until one has ended`, async () => {
  const released = Promise.withResolvers<void>();
  const full = Promise.withResolvers<void>();
  let running = 0;
  const search: BookSearch['search'] = async () => {
    running++;
    if (running === SEARCHES_MAX) full.resolve();
    await released.promise;
    return { json: new Uint8Array(), count: 0, last: undefined, more: 'no', skip: 0 };
  };
  // Longer than any machine takes for so many requests.
  await using service = await startServiceOn({ search } as BookStore & BookSearch, { searchMs: 100_000 });
  const ask = () => service.fetch('GET', '/books?sort=title&limit=1');
  const responses = Array.from({ length: SEARCHES_MAX }, ask);
  await full.promise;
  const refused = await ask();
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get('retry-after'), '1');
  released.resolve();
  for (const { status } of await Promise.all(responses)) assert.equal(status, 200);
  assert.equal((await ask()).status, 200);
});

for (const engine of engines) {
  describe(`Lists in pages, and searches, on ${engine.name}`, () => {
    test('end a page before 1 MiB, with a Link to the next page', async () => {
      await using address = await createLongStore(engine, 3);
      await using service = await startService({ dbUrl: address.dbUrl });
      for (const path of ['/books?limit=1000', '/books?sort=title&limit=1000']) {
        const [first, next] = await page(service, path);
        const length = JSON.stringify(first).length;
        assert.ok(length <= MEBIBYTE + 20_000 && length > MEBIBYTE - 5_000, `${path}: ${first.length} books`);
        const [second] = await page(service, next ?? '');
        assert.ok(second.length > 0, path);
      }
    });
  });
}

describe('503 Service unavailable', () => {
  test('is the response after 10 seconds of a search or count without a result', async () => {
    const last = { key: 1, id: 1 };
    const rest = { json: new Uint8Array(), count: 0, last, more: 'unknown', skip: 0 } as const;
    const search = { search: () => sleep(100, rest), count: () => sleep(100, rest) };
    await using service = await startServiceOn(
      search as Partial<BookStore & BookSearch> as BookStore & BookSearch,
    );
    const paths = ['/books?q=a&limit=1', '/books?sort=id', '/books?limit=1&count=true'];
    const responses = await Promise.all(paths.map((path) => service.fetch('GET', path)));
    for (const { status } of responses) assert.equal(status, 503);
  });

  test('is the response after 100 attempts of a conditional change that conflict with other changes', async () => {
    let attempts = 0;
    const store: Partial<BookStore> = {
      find: async () => ({ ...BOOK, year: attempts }),
      updateExpected: async () => {
        attempts++;
        return undefined;
      },
      deleteExpected: async () => {
        attempts++;
        return false;
      },
    };
    await using service = await startServiceOn(store as BookStore);
    for (const method of ['PUT', 'DELETE']) {
      attempts = 0;
      const body = method === 'PUT' ? '{"title":"changed"}' : undefined;
      assert.equal((await service.fetch(method, '/book/1', body, { 'If-Match': '*' })).status, 503);
      assert.equal(attempts, 100);
    }
  });
});

/** The books of a page, and the path of the next one. */
async function page(service: Service, path: string): Promise<[Book[], string | undefined]> {
  const response = await service.fetch('GET', path);
  const { status, headers } = response;
  const answered = { status, headers, body: await response.text() };
  const books = assertSuccess(answered, 200, 'Books retrieved successfully') as Book[];
  return [books, /^<([^>]*)>/.exec(headers.get('link') ?? '')?.[1]];
}
