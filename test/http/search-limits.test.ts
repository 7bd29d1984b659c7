import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { describe, suite, test } from 'node:test';
import { Client } from 'pg';
import { LazyThread } from '../../src/store/sqlite/threads/lazy-thread.ts';
import { type Engine, engines } from '../../testkit/engines.ts';
import { parseLog } from '../../testkit/log.ts';
import { createDatabase } from '../../testkit/postgres.ts';
import { scrape } from '../../testkit/scrape.ts';
import { type Service, startService } from '../../testkit/service.ts';
import * as sql from '../../testkit/sql.ts';
import { booksIn, idsOf, requestSearch } from './search-responses.ts';

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
          const response = await fetchInTime(service, 'GET', path);
          assert.equal(response.status, 200, path.slice(0, 40));
          assert.equal(response.headers.get('x-total-count'), `${count}`, path.slice(0, 40));
          const { data } = (await response.json()) as { data: unknown[] };
          assert.equal(data.length, Math.min(count, 1));
        }
      }
    });

    test('are no reason to be silent when the index cannot be used: the reason is told, logged once, and in /metrics', async () => {
      await using address = await engine.createAddress();
      if (engine.name === 'SQLite')
        await writeFile(`${address.dbUrl.replace('sqlite:', '')}-search`, 'notes');
      await using service = await startService({ dbUrl: address.dbUrl });
      await service.fetch('POST', '/book', '{"title": "Gormenghast"}');
      if (engine.name === 'PostgreSQL')
        await sql.query(address.dbUrl, 'create table book_search (other text)');
      const failures = () => parseLog(service.log).filter(({ msg }) => msg?.includes('search index'));
      for (let round = 0; round < 3; round++) {
        const response = await service.fetch('GET', '/books?q=gormenghast');
        assert.equal(response.status, 503);
        assert.notEqual(response.headers.get('retry-after'), null);
        assert.match(response.headers.get('error-detail') ?? '', /^The search index cannot be used: /);
      }
      assert.equal((await service.fetch('GET', '/books?sort=-id&limit=5')).status, 200);
      assert.deepEqual(
        failures().map(({ level, msg }) => [level, msg]),
        [[40, 'the search index of the store has failed']],
      );
      assert.match(failures()[0]?.reason ?? '', /\w/);
      assert.deepEqual(await failedParts(service), 1);
    });

    test('end the wait for the index after some seconds, with how far it is if that is known', async () => {
      await using address = await engine.createAddress();
      await using service = await startService({ dbUrl: address.dbUrl });
      const search = () => service.fetch('GET', '/books?q=gormenghast');
      assert.equal((await search()).status, 200);
      const path = `${address.dbUrl.replace('sqlite:', '')}-search`;
      await whileIndexIsLocked(engine.name, address.dbUrl, path, async () => {
        await service.fetch('POST', '/book', '{"title": "Gormenghast"}');
        const response = await search();
        assert.equal(response.status, 503);
        assert.notEqual(response.headers.get('retry-after'), null);
        const part = engine.name === 'SQLite' ? ' \\(34 %\\)' : '';
        const detail = response.headers.get('error-detail') ?? '';
        assert.match(detail, new RegExp(`^The search is being prepared${part}`));
      });
      assert.equal((await booksIn(await search())).length, 1);
    });
  });
}

test('A search on PostgreSQL that times out while the index is updated says so, too', async () => {
  await using database = await createDatabase();
  await using service = await startService({ dbUrl: database.url });
  const search = () => fetchInTime(service, 'GET', '/books?q=gormenghast');
  assert.equal((await search()).status, 200);
  const client = new Client(database.url);
  await client.connect();
  await client.query('begin; lock table book_search in access exclusive mode');
  await service.fetch('POST', '/book', '{"title": "Gormenghast"}');
  const waiting = 'select 1 from pg_locks where not granted';
  // The background waits for the lock.
  while ((await client.query(waiting)).rows.length === 0);
  const response = await service.fetch('GET', '/books?q=gormenghast');
  await client.end();
  assert.equal(response.status, 503);
  assert.match(response.headers.get('error-detail') ?? '', /^The search is being prepared/);
  const { data } = (await (await search()).json()) as { data: unknown[] };
  assert.equal(data.length, 1);
});

describe('A service on SQLite', () => {
  test('skips matches in an order by title whose keys are longer than the memory of a thread', async () => {
    await using address = await (engines[0] as Engine).createAddress();
    // It sorts 64 MB of keys.
    await using service = await startService({ dbUrl: address.dbUrl, httpLimits: { searchMs: 100_000 } });
    const numbers = 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 64000)';
    // Ids are higher than the number of books, so that all matches are sorted in one statement.
    const book = `64000 + i, '${'\u{10330}'.repeat(250)}', 'ab', 0`;
    await sql.query(
      address.dbUrl,
      `insert into books (id, title, author, year) ${numbers} select ${book} from n`,
    );
    const path = '/books?q=ab&sort=title&offset=63990&limit=1';
    const response = await requestSearch(service, path);
    assert.deepEqual(idsOf(await booksIn(response)), [127_991]);
  });

  test('says that a search is prepared which times out before the index has told how far it is', async () => {
    await using service = await startService({ httpLimits: { searchMs: 1 } });
    const response = await service.fetch('GET', '/books?q=gormenghast');
    assert.equal(response.status, 503);
    assert.equal(response.headers.get('error-detail'), 'The search is being prepared');
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

/** The index may still be written when a search has its response. */
const LOCK_MS_MAX = 60_000;

/** Locks the books of a store, or their index, while a function runs. */
async function whileLocked(engine: Engine['name'], dbUrl: string, run: () => Promise<void>): Promise<void> {
  if (engine === 'SQLite') {
    using database = new DatabaseSync(dbUrl.replace('sqlite:', ''), { timeout: LOCK_MS_MAX });
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

/** Has another program update the index of a store, at 34 %, while a function runs. */
async function whileIndexIsLocked(
  engine: Engine['name'],
  dbUrl: string,
  path: string,
  run: () => Promise<void>,
): Promise<void> {
  if (engine === 'SQLite') {
    using database = new DatabaseSync(path, { timeout: LOCK_MS_MAX });
    database.exec('update state set done = 34, total = 100; begin immediate');
    await run();
    return;
  }
  const client = new Client(dbUrl);
  await client.connect();
  try {
    await client.query('begin; lock table book_search_lock in exclusive mode');
    await run();
  } finally {
    await client.end();
  }
}

/** Repeats a request while it gets 503, as building the index takes long on a busy machine. */
async function fetchInTime(service: Service, ...request: Parameters<Service['fetch']>): Promise<Response> {
  for (;;) {
    const response = await service.fetch(...request);
    if (response.status !== 503) return response;
  }
}
