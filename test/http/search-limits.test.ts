import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { DatabaseSync } from 'node:sqlite';
import { describe, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { LazyThread } from '../../src/store/sqlite/threads/thread-client.ts';
import { type Engine, engines } from '../../testkit/engines.ts';
import { parseLog } from '../../testkit/log.ts';
import { scrape } from '../../testkit/scrape.ts';
import { type Service, startService } from '../../testkit/service.ts';
import * as sql from '../../testkit/sql.ts';

for (const engine of engines) {
  suite(`The limits of a search, on ${engine.name}`, () => {
    test('end it with 503 when its time is over, also while it waits for the store; a later search succeeds', async () => {
      await using address = await engine.createAddress();
      await using service = await startService({ dbUrl: address.dbUrl, httpLimits: { searchMs: 300 } });
      await service.fetch('POST', '/book', '{"title": "Gormenghast"}');
      const path = '/books?q=gormenghast&count=true&limit=1';
      await whileLocked(engine.name, address.dbUrl, async () => {
        for (const response of await Promise.all([1, 2, 3, 4].map(() => service.fetch('GET', path)))) {
          assert.equal(response.status, 503);
          assert.notEqual(response.headers.get('retry-after'), null);
          assert.deepEqual(await response.json(), {
            status: 503,
            message: 'Service unavailable',
            data: null,
          });
        }
      });
      const searches = (await scrape(service.url)).get('bookkeeping_searches')?.samples;
      assert.deepEqual(
        searches?.map(({ value }) => value),
        [0],
      );
      while ((await service.fetch('GET', path)).status !== 200);
    });

    test('are those of the texts that are compared, also when a query nearly matches everywhere', async () => {
      await using service = await startService({ engine: engine.name });
      const [a3000, a4000] = ['a'.repeat(3_000), 'a'.repeat(4_000)];
      const words = Array.from({ length: 32 }, (_, index) => `w${index.toString(36)}`).join(' ');
      for (const title of [`${a4000}b${a4000}`, `${a4000}b${a4000}`, `${'x '.repeat(4_000)}${words}`])
        for (let copy = 0; copy < 20; copy++) await service.fetch('POST', '/book', JSON.stringify({ title }));
      for (const [query, count] of [
        [`title=${a3000}b${a4000}a`, 0],
        [`title=${a3000}b${a4000}`, 40],
        [`q=${a3000}b`, 0],
        [`q=${a3000}`, 40],
        [`q=${words.replaceAll(' ', '+')}`, 20],
        [`q=${words.replaceAll(' ', '+')}z`, 0],
      ] as const) {
        for (const sort of ['id', '-title']) {
          const path = `/books?${query}&sort=${sort}&limit=1&count=true`;
          const response = await service.fetch('GET', path);
          assert.equal(response.status, 200, path.slice(0, 40));
          assert.equal(response.headers.get('x-total-count'), `${count}`, path.slice(0, 40));
          const { data } = (await response.json()) as { data: unknown[] };
          assert.equal(data.length, Math.min(count, 1));
        }
      }
    });

    test('find each of many long books once, a few at a time', async () => {
      await using service = await startService({ engine: engine.name, httpLimits: { searchMs: 600_000 } });
      const ids: number[] = [];
      for (let book = 0; book < 10; book++) {
        const title = `end${book % 3} ${'ab '.repeat(200_000)}`;
        const body = JSON.stringify({ title, year: book % 5 });
        const response = await fetchInTime(service, 'POST', '/book', body, { 'Idempotency-Key': `${book}` });
        ids.push(((await response.json()) as { data: { id: number } }).data.id);
      }
      for (const [query, sort] of [
        ['q=end2', '-id'],
        ['title=END2', 'title'],
        ['q=end2&year_from=0&year_to=3', 'year'],
      ] as const) {
        const expected = ids.filter((_, book) => book % 3 === 2 && (!query.includes('year') || book % 5 < 4));
        const path = `/books?${query}&sort=${sort}&count=true`;
        const response = await fetchInTime(service, 'GET', path);
        assert.equal(response.headers.get('x-total-count'), `${expected.length}`, path);
        const { data } = (await response.json()) as { data: { id: number }[] };
        assert.deepEqual(
          data.map(({ id }) => id).toSorted((one, other) => one - other),
          expected,
          path,
        );
      }
    });

    test('do not change when the index fails: the reason is logged once, /metrics shows it, and searches work without it', async () => {
      await using address = await engine.createAddress();
      await using service = await startService({ dbUrl: address.dbUrl });
      await service.fetch('POST', '/book', '{"title": "Gormenghast"}');
      await sql.query(address.dbUrl, 'create table book_changes (other text)');
      const failures = () => parseLog(service.log).filter(({ msg }) => msg?.includes('search index'));
      assert.deepEqual(await failedParts(service), 0);
      for (let round = 0; round < 3; round++)
        assert.equal((await service.fetch('GET', '/books?q=gormenghast')).status, 200);
      assert.deepEqual(
        failures().map(({ level, msg }) => [level, msg]),
        [[40, 'the search index of the store has failed']],
      );
      assert.match(failures()[0]?.reason ?? '', /\w/);
      assert.deepEqual(await failedParts(service), 1);
    });
  });
}

describe('A service on SQLite', () => {
  test('holds less than 400 MB while it searches 60 books of 1 MiB', async () => {
    const script = fileURLToPath(new URL('./search-memory.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [script]);
    assert.ok(Number(stdout) < 400_000, `${stdout} kB`);
  });

  test('reports why a thread does not start', async () => {
    const causes: unknown[] = [];
    const observer = {
      operation: () => () => {},
      pool: () => {},
      part: (name: string) => (cause: unknown) => causes.push([name, cause]),
    };
    const thread = new LazyThread(
      new URL('./no-such-module.ts', import.meta.url),
      '',
      'search thread',
      observer,
    );
    for (let attempt = 0; attempt < 2; attempt++) await assert.rejects(thread.send(1), /no-such-module/);
    assert.equal(causes.length, 1);
    assert.match(String(causes[0]), /^search thread,.*no-such-module/);
    await thread.close();
  });
});

/** Repeats a request while it gets 503, as statements about long books exceed their time on a busy machine. */
async function fetchInTime(service: Service, ...request: Parameters<Service['fetch']>): Promise<Response> {
  for (;;) {
    const response = await service.fetch(...request);
    if (response.status !== 503) return response;
  }
}

async function failedParts(service: Service): Promise<number | undefined> {
  const { samples = [] } = (await scrape(service.url)).get('bookkeeping_store_failed_parts') ?? {};
  return samples.find(({ labels }) => labels.part === 'search index')?.value;
}

/** Locks the books of a store, or their index, while a function runs. */
async function whileLocked(engine: Engine['name'], dbUrl: string, run: () => Promise<void>): Promise<void> {
  if (engine === 'SQLite') {
    using database = new DatabaseSync(dbUrl.replace('sqlite:', ''));
    database.exec('begin immediate');
    await run();
    return;
  }
  const client = new Client(dbUrl);
  await client.connect();
  try {
    await client.query('begin; lock table books in access exclusive mode');
    await run();
  } finally {
    await client.end();
  }
}
