import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { type BookStore, StoreUnavailable } from '../../src/book/book-store.ts';
import { assertError, assertSuccess } from '../../testkit/assertions.ts';
import { Connection, type RawResponse, request } from '../../testkit/connection.ts';
import { parseLog } from '../../testkit/log.ts';
import { createDatabase, startCluster } from '../../testkit/postgres.ts';
import { type Service, startService, startServiceOn } from '../../testkit/service.ts';

const READY = [200, 'Service is ready'] as const;
const ALIVE = [200, 'Service is alive'] as const;

describe('GET /healthz and GET /readyz', () => {
  for (const engine of ['SQLite', 'PostgreSQL'] as const) {
    test(`respond 200 on ${engine} to GET and HEAD without a token`, async () => {
      await using service = await startService({ engine });
      for (const [path, success] of [
        ['/healthz', ALIVE],
        ['/readyz', READY],
      ] as const) {
        const response = await ask(service, path);
        assert.equal(assertSuccess(response, success[0], success[1]), null);
        assert.equal(response.headers.get('cache-control'), 'no-store');
        assert.equal((await ask(service, path, 'HEAD')).status, 200);
      }
    });
  }

  test('are not logged while they respond 200', async () => {
    await using service = await startServiceOn(storeThat(() => Promise.resolve()));
    const lines = service.log.length;
    for (const path of ['/healthz', '/readyz', '/healthz']) await ask(service, path);
    assert.equal(service.log.length, lines);
    await ask(service, '/nowhere');
    assert.equal(service.log.length, lines + 1);
  });
});

describe('GET /readyz responds 503', () => {
  test('while PostgreSQL is frozen or down, and 200 afterwards; GET /healthz always responds 200', async () => {
    await using cluster = await startCluster();
    const { url } = await createDatabase({ server: cluster.url });
    await using service = await startService({ dbUrl: url });
    assertSuccess(await ask(service, '/readyz'), ...READY);

    await cluster.freeze();
    assertUnavailable(await ask(service, '/readyz'));
    assertSuccess(await ask(service, '/healthz'), ...ALIVE);
    cluster.thaw();
    await untilReady(service);

    await cluster.stop('kill');
    assertUnavailable(await ask(service, '/readyz'));
    assertSuccess(await ask(service, '/healthz'), ...ALIVE);
    await cluster.start();
    await untilReady(service);
  });

  test('when the store does not respond, and immediately to further requests', async () => {
    await using service = await startServiceOn(storeThat(() => new Promise(() => {})));
    assertUnavailable(await ask(service, '/readyz'));
    assertUnavailable(await ask(service, '/readyz'));
    const reasons = parseLog(service.log).flatMap(({ reason = [] }) => reason);
    assert.deepEqual(reasons, ['slow', 'slow']);
  });

  test('until the store responds again', async () => {
    const responses = [() => Promise.reject(new StoreUnavailable('AWAY')), () => Promise.resolve()];
    await using service = await startServiceOn(storeThat(async () => responses.shift()?.()));
    assertUnavailable(await ask(service, '/readyz'));
    assertSuccess(await ask(service, '/readyz'), ...READY);
  });

  test('while the service is stopping; GET /healthz responds 200', async () => {
    const service = await startService({ httpLimits: { graceMs: 60_000, drainMs: 60_000 } });
    using ready = await Connection.open(service);
    using alive = await Connection.open(service);
    for (const connection of [ready, alive]) {
      await connection.send(request('GET /readyz'));
      assertSuccess(await connection.response(), ...READY);
    }

    const closed = service[Symbol.asyncDispose]();
    await sleep(100);
    await ready.send(request('GET /readyz'));
    assertUnavailable(await ready.response());
    await alive.send(request('GET /healthz'));
    assertSuccess(await alive.response(), ...ALIVE);
    await closed;
    const line = parseLog(service.log).find(({ status }) => status === 503);
    assert.deepEqual([line?.level, line?.msg], [30, 'the service is stopping']);
  });
});

test('Concurrent requests for GET /readyz share one check of the store', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let checks = 0;
  await using service = await startServiceOn(
    storeThat(() => {
      checks++;
      return promise;
    }),
  );
  using stack = new DisposableStack();
  const opening = Array.from({ length: 20 }, () => Connection.open(service));
  const connections = (await Promise.all(opening)).map((connection) => stack.use(connection));
  for (const connection of connections) {
    await connection.send(request('GET /nowhere'));
    await connection.response();
  }
  for (const connection of connections) await connection.send(request('GET /readyz'));
  // The service reads them in the next turn. It gives the store little time.
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  resolve();
  for (const connection of connections) assertSuccess(await connection.response(), ...READY);
  assert.equal(checks, 1);
});

function assertUnavailable(response: RawResponse): void {
  assertError(response, 503, 'Service unavailable');
  assert.equal(response.headers.get('retry-after'), '1');
}

/** Repeats the request until it gets 200. */
async function untilReady(service: Service): Promise<void> {
  while ((await ask(service, '/readyz')).status !== 200) await sleep(50);
}

async function ask(service: Service, path: string, method = 'GET'): Promise<RawResponse> {
  using connection = await Connection.open(service);
  await connection.send(request(`${method} ${path}`));
  return await connection.response(method === 'HEAD');
}

/** A store of which only `check` is called. */
function storeThat(check: () => Promise<void>): BookStore {
  return { check, [Symbol.asyncDispose]: async () => {} } as Partial<BookStore> as BookStore;
}
