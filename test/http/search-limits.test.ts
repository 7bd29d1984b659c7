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
      const [a1500, a2000] = ['a'.repeat(1_500), 'a'.repeat(2_000)];
      const words = Array.from({ length: 32 }, (_, index) => `w${index.toString(36)}`).join(' ');
      for (const title of [`${a2000}b${a2000}`, `${a2000}b${a2000}`, `${'x '.repeat(1_900)}${words}`])
        for (let copy = 0; copy < 20; copy++) await service.fetch('POST', '/book', JSON.stringify({ title }));
      for (const [query, count] of [
        [`title=${a1500}b${a2000}a`, 0],
        [`title=${a1500}b${a2000}`, 40],
        [`q=${a1500}b`, 0],
        [`q=${a1500}`, 40],
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
