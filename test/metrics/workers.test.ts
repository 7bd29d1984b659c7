import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Metric, sumOf } from '../../testkit/exposition.ts';
import { scrape } from '../../testkit/scrape.ts';
import { createBook, send } from '../../testkit/service-process.ts';
import { startTwoWorkers, type TwoWorkers, waitForProcesses } from '../process/worker-processes.ts';

const REQUESTS = 'bookkeeping_http_requests_total';

describe('GET /metrics of two workers', { concurrency: 2, timeout: 120_000 }, () => {
  test('has the sums of both workers, whichever responds', async () => {
    await using workers = await startTwoWorkers();
    await load(workers);
    for (let scrapes = 0; scrapes < 4; scrapes++) {
      const metrics = await scrapeAll(workers);
      assert.equal(sumOf(metrics, REQUESTS, { route: '/book', method: 'POST', status: '201' }), CREATES);
      assert.equal(sumOf(metrics, REQUESTS, { route: '/book/:id', method: 'GET', status: '200' }), READS);
      assert.equal(sumOf(metrics, 'bookkeeping_store_trip_calls_sum', { operation: 'create' }), CREATES);
      assert.equal(sumOf(metrics, 'bookkeeping_processes'), 2);
      assert.equal(sumOf(metrics, 'bookkeeping_build_info'), 1);
    }
  });

  test('keeps the counters of a killed worker, and adds those of its replacement', async () => {
    await using workers = await startTwoWorkers();
    const { service, pids } = workers;
    await load(workers);
    const before = await scrapeAll(workers);
    process.kill(pids[0] ?? 0, 'SIGKILL');
    await waitForProcesses(service.url, 2);
    const after = await scrape(service.url);
    for (const route of ['/book', '/book/:id']) {
      assert.equal(sumOf(after, REQUESTS, { route }), sumOf(before, REQUESTS, { route }));
    }
    for (const name of ['process_cpu_seconds_total', 'bookkeeping_http_request_duration_seconds_sum']) {
      assert.ok(sumOf(after, name) >= sumOf(before, name), name);
    }
    assert.equal(sumOf(after, 'bookkeeping_processes'), 2);
  });

  test('does not wait for a worker that hangs, and uses its last metrics', async () => {
    await using workers = await startTwoWorkers();
    const { service, pids } = workers;
    await load(workers);
    const before = await scrapeAll(workers);
    process.kill(pids[0] ?? 0, 'SIGSTOP');
    // The worker that hangs gets every other connection.
    const after = await Promise.any([scrape(service.url), sleep(50).then(() => scrape(service.url))]);
    process.kill(pids[0] ?? 0, 'SIGCONT');
    for (const route of ['/book', '/book/:id']) {
      assert.equal(sumOf(after, REQUESTS, { route }), sumOf(before, REQUESTS, { route }));
    }
  });
});

const CREATES = 20;
const READS = 40;

/** Creates and reads books, each on a new connection, so that both workers get requests. */
async function load({ service, token }: TwoWorkers): Promise<void> {
  for (let index = 0; index < CREATES; index++) {
    const id = await createBook(service, token, `Volume ${index}`);
    for (let reads = 0; reads < READS / CREATES; reads++) {
      assert.equal((await send(service, 'GET', `/book/${id}`, { token })).status, 200);
    }
  }
}

/** Scrapes until the metrics include all of {@link load}: on a slow machine a worker may reply too late. */
async function scrapeAll({ service }: TwoWorkers): Promise<Map<string, Metric>> {
  for (;;) {
    const metrics = await scrape(service.url);
    const reads = sumOf(metrics, REQUESTS, { route: '/book/:id' });
    assert.ok(reads <= READS);
    if (reads === READS && sumOf(metrics, REQUESTS, { route: '/book' }) === CREATES) return metrics;
  }
}
