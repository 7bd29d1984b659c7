import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, request } from '../../testkit/connection.ts';
import { engines } from '../../testkit/engines.ts';
import { scrape } from '../../testkit/scrape.ts';
import { type Service, type ServiceOptions, startService } from '../../testkit/service.ts';
import { query } from '../../testkit/sql.ts';

const BOOK = { title: 'Emma', author: 'Jane Austen', year: 1815 };

interface Change {
  readonly cursor: string;
  readonly type: string;
  readonly at: string;
  readonly book: { readonly id: number; readonly year: number };
}

async function read(service: Service, path: string, headers = {}) {
  const response = await service.fetch('GET', path, undefined, headers);
  const { status, message, data } = (await response.json()) as {
    status: number;
    message: string;
    data: Change[];
  };
  const [, next = ''] = /^<(\/.*)>; rel="next"$/.exec(response.headers.get('link') ?? '') ?? [];
  return { status, message, data, next };
}

const create = (service: Service, year: number) =>
  service.fetch('POST', '/book', JSON.stringify({ ...BOOK, year }));
const years = (changes: readonly Change[]) => changes.map(({ book }) => book.year);

/** The tables of the log. */
const LOGS = { SQLite: 'book_changes', PostgreSQL: 'book_history_changes' };

for (const engine of engines) {
  const start = (options?: ServiceOptions) =>
    startService({ engine: engine.name, hasHistory: true, ...options });

  describe(`GET /changes on ${engine.name}`, () => {
    test('returns the changes in pages, and always the next one', async () => {
      await using service = await start();
      for (const year of [1, 2, 3]) await create(service, year);
      await service.fetch('PUT', '/book/1', '{"year":4}');
      await service.fetch('DELETE', '/book/2');
      const first = await read(service, '/changes?limit=3');
      assert.deepEqual([first.status, first.message], [200, 'Changes retrieved successfully']);
      assert.deepEqual(years(first.data), [1, 2, 3]);
      assert.deepEqual(Object.keys(first.data[0] ?? {}), ['cursor', 'type', 'at', 'book']);
      assert.deepEqual(first.data[0]?.book, { id: 1, ...BOOK, year: 1 });
      assert.match(first.data[0]?.at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      const second = await read(service, first.next);
      assert.deepEqual(
        second.data.map(({ type, book: { id, year } }) => [type, id, year]),
        [
          ['updated', 1, 4],
          ['deleted', 2, 2],
        ],
      );
      const third = await read(service, second.next);
      assert.deepEqual(third.data, []);
      await create(service, 5);
      assert.deepEqual(years((await read(service, third.next)).data), [5]);
      assert.deepEqual(years((await read(service, `/changes?after=${second.data[0]?.cursor}`)).data), [2, 5]);
    });

    test('rejects wrong values with 400, and what is no longer kept with 410', async () => {
      await using address = await engine.createAddress();
      const { dbUrl } = address;
      await using service = await startService({ dbUrl, hasHistory: true });
      await using other = await start();
      await create(service, 1);
      await create(other, 1);
      const cursor = (await read(service, '/changes')).data[0]?.cursor ?? '';
      const ofOther = (await read(other, '/changes')).data[0]?.cursor ?? '';
      const [position = '', nonce = ''] = cursor.split('-');
      for (const wrong of [
        'limit=0',
        'limit=1001',
        'limit=x',
        'wait=61',
        'wait=-1',
        'after=',
        'after=1',
        'limit=1&limit=1',
        `after=${ofOther}`,
        `after=0123456789abcdef.${position}`,
        `after=${position}-0${nonce}`,
        `after=${position}-${nonce.toUpperCase()}-`,
        `after=${Number(position) + 1_000}-${nonce}`,
        `after=-1-${nonce}`,
        `after=01-${nonce}`,
        `after=9007199254740993-${nonce}`,
        `after=${position}-zzzzzzzzzzz`,
      ]) {
        assert.deepEqual(await read(service, `/changes?${wrong}`), {
          status: 400,
          message: 'Invalid query',
          data: null,
          next: '',
        });
      }
      await create(service, 2);
      await query(dbUrl, `delete from ${LOGS[engine.name]}`);
      const { status, message } = await read(service, `/changes?after=${cursor}`);
      assert.deepEqual([status, message], [410, 'Changes no longer kept']);
      const present = await read(service, '/changes');
      assert.deepEqual(present.data, []);
      assert.deepEqual((await read(service, present.next)).status, 200);
    });

    test('that waits is 400 as soon as the log is that of another store', async () => {
      await using address = await engine.createAddress();
      await using service = await start({ dbUrl: address.dbUrl });
      const isWaiting = async () =>
        (await scrape(service.url)).get('bookkeeping_followers')?.samples.some(({ value }) => value > 0);
      const waiting = read(service, '/changes?wait=60');
      while (!(await isWaiting())) await sleep(5);
      await create(service, 1);
      // The poll that has ended this wait knows the last change.
      const { next } = await waiting;
      const other = read(service, next);
      while (!(await isWaiting())) await sleep(5);
      await query(address.dbUrl, `update ${LOGS[engine.name]} set nonce = nonce + 1`);
      const { status, message } = await other;
      assert.deepEqual([status, message], [400, 'Invalid query']);
    });

    test('begins with the changes to come after now, also when it waits', async () => {
      await using service = await start();
      const empty = await read(service, '/changes?after=now');
      assert.deepEqual([empty.status, empty.data], [200, []]);
      await create(service, 1);
      assert.deepEqual(years((await read(service, empty.next)).data), [1]);
      const now = await read(service, '/changes?limit=5&after=now');
      assert.deepEqual(now.data, []);
      assert.match(now.next, /^[/]changes[?]limit=5&after=[0-9]+-[0-9a-z]+$/);
      const waiting = read(service, '/changes?after=now&wait=25');
      const pages: (typeof now)[] = [];
      void waiting.then((page) => pages.push(page));
      while (pages.length === 0) await create(service, 2);
      assert.equal(pages[0]?.data[0]?.book.year, 2);
    });

    test('waits for a change, of this service or of another program', async () => {
      await using address = await engine.createAddress();
      await using service = await startService({ dbUrl: address.dbUrl, hasHistory: true });
      const { next: first } = await read(service, '/changes?limit=9');
      const next = `${first}&wait=25`;
      const [waiting, alsoWaiting] = [read(service, next), read(service, next)];
      await create(service, 1);
      const { data, next: afterFirst } = await waiting;
      assert.deepEqual(years(data), [1]);
      assert.deepEqual((await alsoWaiting).data, data);
      const last = read(service, afterFirst);
      await query(address.dbUrl, `insert into books (title, author, year) values ('', '', 2)`);
      assert.deepEqual(years((await last).data), [2]);
    });

    test('with wait is empty when nothing changes, also when the service stops', async () => {
      const service = await start();
      assert.deepEqual((await read(service, '/changes?wait=1')).data, []);
      const waiting = read(service, '/changes?wait=60');
      while ((await scrape(service.url)).get('bookkeeping_followers')?.samples[0]?.value !== 1);
      await service[Symbol.asyncDispose]();
      assert.deepEqual((await waiting).data, []);
    });

    test('responds in JSON whatever Accept and Last-Event-ID say', async () => {
      await using service = await start();
      await create(service, 1);
      const headers = { Accept: 'text/event-stream', 'Last-Event-ID': 'x' };
      const response = await service.fetch('GET', '/changes', undefined, headers);
      assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
      assert.equal(((await response.json()) as { data: Change[] }).data[0]?.book.year, 1);
    });

    test('counts the requests that wait in the metrics, and reads nothing for those that have disconnected', async () => {
      await using service = await start();
      const { next } = await read(service, '/changes');
      const metric = async (name: string) => {
        const text = await (await fetch(`${service.url}/metrics`)).text();
        return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
      };
      const reads = () =>
        metric(`bookkeeping_store_batch_duration_seconds_count[{].*operation="changes".*[}]`);
      const waiting = await Promise.all([1, 2].map(() => Connection.open(service)));
      for (const connection of waiting)
        await connection.send(request(`GET ${next}&wait=60`, [service.authorization]));
      while ((await metric('bookkeeping_followers')) < 2) await sleep(10);
      // An end without a reset may be a half-close, after which a client still reads.
      for (const connection of waiting) connection.reset();
      while ((await metric('bookkeeping_followers')) > 0) await sleep(10);
      const before = await reads();
      await create(service, 1);
      await sleep(500);
      assert.equal(await reads(), before);
    });

    test('needs a token first, and is unknown without a history', async () => {
      await using service = await start();
      for (const path of [
        '/changes',
        '/changes?limit=0',
        '/books/deleted',
        '/book/1/history',
        '/book/x/history',
      ]) {
        assert.equal((await fetch(service.url + path)).status, 401);
      }
      for (const path of ['/book/1/restore', '/books/restore'])
        assert.equal((await fetch(service.url + path, { method: 'POST' })).status, 401);
      await using off = await start({ hasHistory: false });
      for (const [method, path] of [
        ['GET', '/changes'],
        ['GET', '/books/deleted'],
        ['GET', '/book/1/history'],
        ['POST', '/book/1/restore'],
        ['POST', '/books/restore'],
      ] as const) {
        const response = await off.fetch(method, path);
        assert.deepEqual(await response.json(), { status: 404, message: 'Not found', data: null });
      }
    });
  });

  describe(`The list of deleted books on ${engine.name}`, () => {
    test('has the last deletion first, and no book that was stored again', async () => {
      await using service = await start();
      const { data, message, next } = await read(service, '/books/deleted');
      assert.deepEqual([data, message, next], [[], 'Deleted books retrieved successfully', '']);
      for (const year of [1, 2, 3, 4]) await create(service, year);
      for (const id of [2, 4, 1, 3]) await service.fetch('DELETE', `/book/${id}`);
      for (const id of [1, 3]) await service.fetch('POST', `/book/${id}/restore`);
      await service.fetch('DELETE', '/book/3');
      const all = await read(service, '/books/deleted?limit=9');
      assert.deepEqual(years(all.data), [3, 4, 2]);
      assert.deepEqual(all.data[0]?.book, { id: 3, ...BOOK, year: 3 });
      assert.equal(all.data[0]?.type, 'deleted');
      // A page reads so many deletions, of which some may have been undone.
      const pages: number[][] = [];
      for (let path = '/books/deleted?limit=2'; path !== ''; ) {
        const page = await read(service, path);
        pages.push(years(page.data));
        path = page.next;
      }
      assert.deepEqual(pages, [[3], [4], [2], []]);
      const future = all.data[0]?.cursor.replace(/[^-]*/, '1000');
      for (const wrong of ['limit=0', 'after=x', 'after=now', `after=${future}`]) {
        assert.equal((await read(service, `/books/deleted?${wrong}`)).status, 400);
      }
    });
  });

  describe(`The history of a book on ${engine.name}`, () => {
    test('has its changes, the last one first, in pages', async () => {
      await using service = await start();
      await create(service, 1);
      await create(service, 10);
      await service.fetch('PUT', '/book/1', '{"year":2}');
      await service.fetch('DELETE', '/book/1');
      const first = await read(service, '/book/1/history?limit=2');
      assert.deepEqual([first.message, years(first.data)], ['History retrieved successfully', [2, 2]]);
      const second = await read(service, first.next);
      assert.deepEqual(years(second.data), [1]);
      const third = await read(service, second.next);
      assert.deepEqual([third.data, third.next], [[], '']);
      for (const path of ['/book/99/history', '/book/x/history', '/book/0/history?limit=5']) {
        const { status, message } = await read(service, path);
        assert.deepEqual([status, message], [404, 'Book not found']);
      }
      const future = first.data[0]?.cursor.replace(/[^-]*/, '1000');
      for (const wrong of ['limit=0', 'after=x', 'after=00.1', `after=${future}`]) {
        assert.equal((await read(service, `/book/1/history?${wrong}`)).status, 400);
      }
    });

    test('says after which change others may be missing, and followers before a gap get 410', async () => {
      await using address = await engine.createAddress();
      const { dbUrl } = address;
      {
        await using service = await startService({ dbUrl, hasHistory: true });
        await create(service, 1);
        await create(service, 10);
      }
      {
        await using service = await startService({ dbUrl });
        await service.fetch('PUT', '/book/1', '{"year":2}');
      }
      await using service = await startService({ dbUrl, hasHistory: true });
      await service.fetch('PUT', '/book/1', '{"year":3}');
      const { data } = await read(service, '/book/1/history');
      assert.deepEqual(
        data.map(({ book, ...change }) => [book.year, 'gapAfter' in change ? change.gapAfter : undefined]),
        [
          [3, undefined],
          [1, true],
        ],
      );
      const { status, message } = await read(service, `/changes?after=${data[1]?.cursor}`);
      assert.deepEqual([status, message], [410, 'Changes no longer kept']);
      assert.deepEqual(years((await read(service, '/changes')).data), [3]);
    });

    test('restores a book only as it was deleted when the request has a precondition', async () => {
      await using service = await start();
      const created = await create(service, 1);
      const tag = created.headers.get('etag') ?? '';
      const restore = async (headers: Record<string, string>) =>
        (await service.fetch('POST', '/book/1/restore', undefined, headers)).status;
      assert.equal(await restore({ 'If-Match': '"other"' }), 409);
      await service.fetch('DELETE', '/book/1');
      assert.equal(await restore({ 'If-Match': '"other"' }), 412);
      assert.equal(await restore({ 'If-None-Match': tag }), 412);
      assert.equal(await restore({ 'If-None-Match': '*' }), 412);
      assert.equal((await service.fetch('GET', '/book/1')).status, 404);
      assert.equal(await restore({ 'If-Match': `"other", ${tag}` }), 200);
      assert.equal(await restore({ 'If-Match': tag }), 409);
      await service.fetch('PUT', '/book/1', '{"year":2}');
      await service.fetch('DELETE', '/book/1');
      assert.equal(await restore({ 'If-Match': tag }), 412);
      assert.deepEqual(
        (await Promise.all([restore({ 'If-Match': '*' }), restore({ 'If-Match': '*' })])).toSorted(),
        [200, 409],
      );
      const unknown = await service.fetch('POST', '/book/9/restore', undefined, { 'If-Match': '*' });
      assert.equal(unknown.status, 404);
    });

    test('restores many deleted books, and responds with the first id at fault', async () => {
      await using service = await start();
      for (const year of [1, 2, 3]) await create(service, year);
      for (const id of [1, 2]) await service.fetch('DELETE', `/book/${id}`);
      const restore = async (body: unknown) => {
        const response = await service.fetch('POST', '/books/restore', JSON.stringify(body));
        const { message, data } = (await response.json()) as {
          message: string;
          data: { id: number }[] | null;
        };
        return [response.status, message, response.headers.get('invalid-index'), data?.map(({ id }) => id)];
      };
      for (const body of ['x', {}, null])
        assert.deepEqual(await restore(body), [400, 'Invalid input', null, undefined]);
      for (const wrong of [1, -1, 1.5, '2', null, {}])
        assert.deepEqual(await restore([1, wrong]), [400, 'Invalid input', '1', undefined]);
      const ids = Array.from({ length: 10_001 }, (_, index) => index);
      assert.deepEqual(await restore(ids), [400, 'Invalid input', '10000', undefined]);
      assert.deepEqual(await restore([2, 3, 9]), [409, 'Book exists', '1', undefined]);
      assert.deepEqual(await restore([2, 9, 3]), [404, 'Book not found', '1', undefined]);
      assert.equal((await service.fetch('GET', '/book/2')).status, 404);
      assert.deepEqual(await restore([2, 1]), [200, 'Books restored successfully', null, [2, 1]]);
      const found = (await (await service.fetch('GET', '/book/2')).json()) as { data: unknown };
      assert.deepEqual(found.data, { id: 2, ...BOOK, year: 2 });
    });

    test('lists the last changes first, page by page, up to the first one', async () => {
      await using service = await start();
      for (const year of [1, 2, 3]) await create(service, year);
      const pages: number[][] = [];
      for (let path = '/changes?order=desc&limit=2'; path !== ''; ) {
        const page = await read(service, path);
        assert.equal(page.message, 'Changes retrieved successfully');
        pages.push(years(page.data));
        path = page.next;
      }
      assert.deepEqual(pages, [[3, 2], [1], []]);
      for (const wrong of ['order=x', 'order=desc&after=x'])
        assert.equal((await read(service, `/changes?${wrong}`)).status, 400);
    });

    test('restores a deleted book once, also for concurrent requests', async () => {
      await using service = await start();
      const created = await create(service, 1);
      const restore = async (id: number | string) => {
        const response = await service.fetch('POST', `/book/${id}/restore`);
        return [((await response.json()) as { message: string }).message, response.headers.get('etag')];
      };
      assert.deepEqual(await restore(1), ['Book exists', null]);
      assert.deepEqual(await restore(2), ['Book not found', null]);
      assert.deepEqual(await restore('x'), ['Book not found', null]);
      await service.fetch('DELETE', '/book/1');
      const results = await Promise.all([restore(1), restore(1), restore(1)]);
      assert.deepEqual(results.toSorted(), [
        ['Book exists', null],
        ['Book exists', null],
        ['Book restored successfully', created.headers.get('etag')],
      ]);
      const { data } = await read(service, '/book/1/history');
      assert.deepEqual(
        data.map(({ type }) => type),
        ['created', 'deleted', 'created'],
      );
    });
  });
}
