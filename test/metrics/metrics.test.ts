import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Connection, request } from '../../testkit/connection.ts';
import { sumOf } from '../../testkit/exposition.ts';
import { scrape, scrapeText } from '../../testkit/scrape.ts';
import {
  LOGIN,
  PASSWORD,
  SECRET,
  type Service,
  startService,
  TITLE,
  USERNAME,
  WRONG_LOGIN,
} from '../../testkit/service.ts';

const BOOK = JSON.stringify({ title: TITLE });
const REQUESTS = 'bookkeeping_http_requests_total';
const DURATIONS = 'bookkeeping_http_request_duration_seconds_count';
const BATCH_CALLS = 'bookkeeping_store_batch_calls';

describe('GET /metrics', () => {
  for (const engine of ['SQLite', 'PostgreSQL'] as const) {
    test(`counts 573 requests by route, method and status on ${engine}`, async () => {
      await using service = await startService({ engine });
      // Concurrent requests would verify the token several times.
      await repeat(service, 1, 'POST /book', BOOK);
      await repeat(service, 49, 'POST /book', BOOK);
      await repeat(service, 500, 'GET /book/1');
      await repeat(service, 15, 'GET /book/99');
      await repeat(service, 5, 'GET /nowhere');
      await repeat(service, 3, 'POST /book', '{');
      const metrics = await scrape(service.url);
      for (const [route, method, status, count] of [
        ['/book', 'POST', '201', 50],
        ['/book', 'POST', '400', 3],
        ['/book/:id', 'GET', '200', 500],
        ['/book/:id', 'GET', '404', 15],
        ['other', 'GET', '404', 5],
      ] as const) {
        assert.equal(
          sumOf(metrics, REQUESTS, { route, method, status }),
          count,
          `${method} ${route} ${status}`,
        );
      }
      assert.equal(sumOf(metrics, REQUESTS), 573);
      assert.equal(sumOf(metrics, DURATIONS), 573);
      assert.equal(sumOf(metrics, DURATIONS, { route: '/book/:id', method: 'GET' }), 515);

      const [find, create] = engine === 'SQLite' ? ['find', 'write'] : ['find', 'create'];
      assert.equal(sumOf(metrics, `${BATCH_CALLS}_sum`, { operation: find }), 515);
      assert.equal(sumOf(metrics, `${BATCH_CALLS}_sum`, { operation: create }), 50);
      assert.ok(sumOf(metrics, `${BATCH_CALLS}_count`, { operation: find }) <= 515);
      assert.equal(sumOf(metrics, 'bookkeeping_store_batch_failures_total'), 0);
      assert.equal(sumOf(metrics, 'bookkeeping_store_waiting_calls'), 0);
      assert.equal(sumOf(metrics, 'bookkeeping_token_cache_total', { result: 'miss' }), 1);
      assert.equal(sumOf(metrics, 'bookkeeping_token_cache_total', { result: 'hit' }), 567);
      // A scrape does not count itself.
      assert.equal(sumOf(await scrape(service.url), REQUESTS, { route: '/metrics' }), 1);
    });
  }

  test('counts logins by result', async () => {
    await using service = await startService({ httpLimits: { failedLogins: 2 } });
    for (const body of [LOGIN, WRONG_LOGIN, LOGIN, '{', WRONG_LOGIN, WRONG_LOGIN, LOGIN]) {
      await service.fetch('POST', '/token', body);
    }
    const metrics = await scrape(service.url);
    const logins = (result: string) => sumOf(metrics, 'bookkeeping_logins_total', { result });
    assert.deepEqual([logins('succeeded'), logins('failed'), logins('throttled')], [2, 2, 2]);
  });

  test('counts rejected connections, and has failures that have not occurred as 0', async () => {
    await using service = await startService();
    await service.fetch('GET', '/healthz');
    using connection = await Connection.open(service);
    await connection.send('nonsense\r\n\r\n');
    await connection.response();
    const metrics = await scrape(service.url);
    const rejected = metrics.get('bookkeeping_http_rejected_connections_total')?.samples;
    assert.deepEqual(
      rejected?.map(({ labels, value }) => [labels.status, value]),
      [
        ['400', 1],
        ['408', 0],
        ['431', 0],
        ['503', 0],
      ],
    );
    const probes = metrics.get(REQUESTS)?.samples.filter(({ labels }) => labels.route === '/healthz');
    assert.deepEqual(
      probes?.map(({ labels, value }) => [labels.status, value]),
      [
        ['200', 1],
        ['500', 0],
        ['503', 0],
      ],
    );
  });

  test('distinguishes active and idle connections', async () => {
    await using service = await startService();
    using idle = await Connection.open(service);
    using active = await Connection.open(service);
    await idle.send(request('GET /healthz'));
    await idle.response();
    await active.send(
      request('POST /book', [service.authorization, 'Expect: 100-continue', 'Content-Length: 2']),
    );
    assert.equal((await active.response()).status, 100);
    const metrics = await scrape(service.url);
    const connections = (state: string) => sumOf(metrics, 'bookkeeping_http_connections', { state });
    // The scrape is active as well.
    assert.deepEqual([connections('active'), connections('idle')], [2, 1]);
  });

  test('limits its series for unknown paths and methods', async () => {
    await using service = await startService();
    await service.fetch('GET', '/nowhere/1');
    const before = await scrape(service.url);
    for (let index = 2; index < 50; index++) await service.fetch('GET', `/nowhere/${index}?q=${index}`);
    for (const method of ['PROPFIND', 'PROPFIND', 'TRACE', 'M-SEARCH']) {
      using connection = await Connection.open(service);
      await connection.send(request(`${method} /nowhere`));
      await connection.response();
    }
    const after = await scrape(service.url);
    const routes = after.get(REQUESTS)?.samples.map(({ labels }) => `${labels.method} ${labels.route}`);
    assert.deepEqual([...new Set(routes)].toSorted(), ['GET /metrics', 'GET other', 'other other']);
    assert.ok((routes?.length ?? 0) <= 4 * 3);
    assert.equal(
      sumOf(after, REQUESTS, { route: 'other' }) - sumOf(before, REQUESTS, { route: 'other' }),
      52,
    );
  });

  test('has metrics of the process, the build and the pool', async () => {
    await using service = await startService({ engine: 'PostgreSQL' });
    await repeat(service, 10, 'GET /book/1');
    const metrics = await scrape(service.url);
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'nodejs_heap_size_used_bytes',
    ]) {
      assert.ok(sumOf(metrics, name) > 0, name);
    }
    assert.equal(
      sumOf(metrics, 'bookkeeping_build_info', { engine: 'postgres', node: process.versions.node }),
      1,
    );
    assert.equal(sumOf(metrics, 'bookkeeping_store_pool_connections', { pool: 'books', state: 'idle' }), 1);
  });

  test('contains no secret, title or path of a client, and requires no token', async () => {
    await using service = await startService();
    await repeat(service, 1, 'POST /book', BOOK);
    await service.fetch('GET', `/${encodeURIComponent(TITLE)}`);
    const text = await scrapeText(service.url);
    for (const secret of [SECRET, PASSWORD, USERNAME, TITLE, service.token])
      assert.ok(!text.includes(secret));
    assert.equal((await fetch(`${service.url}/metrics`, { method: 'HEAD' })).status, 200);
  });

  test('is not logged', async () => {
    await using service = await startService();
    const lines = service.log.length;
    await scrape(service.url);
    assert.equal(service.log.length, lines);
  });

  test('responds 404 with METRICS=off', async () => {
    await using service = await startService({ hasMetrics: false });
    const response = await service.fetch('GET', '/metrics');
    assert.deepEqual(await response.json(), { status: 404, message: 'Not found', data: null });
  });
});

/** Sends a request `count` times from 8 concurrent clients. */
async function repeat(
  { port, authorization }: Service,
  count: number,
  start: string,
  body = '',
): Promise<void> {
  let left = count;
  async function send(): Promise<void> {
    using connection = await Connection.open({ port });
    while (left-- > 0) {
      await connection.send(request(start, [authorization], body));
      await connection.response();
    }
  }
  await Promise.all(Array.from({ length: 8 }, send));
}
