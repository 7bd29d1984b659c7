import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createClientWith } from '../../client/client.ts';
import { type Book, createClient, RefusedError, renewToken, requestToken } from '../../client/index.ts';
import { DEPENDENCIES } from '../../client/retries.ts';
import { startAlteringProxy } from '../../testkit/altering-proxy.ts';
import { engines } from '../../testkit/engines.ts';
import { PASSWORD, type Service, startService, USERNAME } from '../../testkit/service.ts';

const ILIAD = { title: 'The Iliad', author: 'Homer', year: -750 };
const CREDENTIALS = { username: USERNAME, password: PASSWORD };
const MINUTES_MS = 60_000;

/** What proxies put before and into an entity tag: nginx, HAProxy, Cloudflare; Caddy, Apache; Jetty; several of them. */
const ALTERATIONS = [
  ['W/', ''],
  ['', '-gzip'],
  ['', '-br'],
  ['', '-zstd'],
  ['', '--gzip'],
  ['', ';gzip'],
  ['W/', '-gzip-br'],
] as const;

for (const { name: engine } of engines) {
  describe(`A client of a service on ${engine}`, () => {
    test('creates, finds, lists, updates and deletes books', async () => {
      await using service = await startService({ engine });
      const books = createClient({ url: service.url, ...CREDENTIALS });

      const created = await books.create(ILIAD);
      assert.deepEqual(withoutEtag(created), { id: created.id, ...ILIAD });
      assert.deepEqual(await books.find(created.id), created);
      const odyssey = await books.create({ title: 'The Odyssey' });
      assert.deepEqual(withoutEtag(odyssey), { id: odyssey.id, title: 'The Odyssey', author: '', year: 0 });
      assert.deepEqual(await all(books.list()), [created, odyssey].map(withoutEtag));

      const updated = await books.update(odyssey.id, { author: 'Homer', year: -700 });
      assert.deepEqual(updated && withoutEtag(updated), {
        ...withoutEtag(odyssey),
        author: 'Homer',
        year: -700,
      });
      assert.deepEqual(await books.find(odyssey.id), updated);

      assert.equal(await books.delete(created.id), true);
      assert.equal(await books.delete(created.id), false);
      assert.equal(await books.find(created.id), undefined);
      assert.equal(await books.update(created.id, ILIAD), undefined);
      assert.deepEqual(await all(books.list()), updated && [withoutEtag(updated)]);
    });

    test('reads with the scope `read`, and changes nothing', async () => {
      await using service = await startService({ engine });
      const { id } = await createClient({ url: service.url, ...CREDENTIALS }).create(ILIAD);
      const books = createClient({ url: service.url, ...CREDENTIALS, scope: 'read' });
      assert.equal((await books.find(id))?.title, ILIAD.title);
      for (const change of [
        () => books.create(ILIAD),
        () => books.createMany([ILIAD]),
        () => books.update(id, { year: 0 }),
        () => books.delete(id),
      ])
        await assert.rejects(change, { name: 'RefusedError', status: 403, message: 'Read-only token' });
      assert.deepEqual(await all(books.list()), [{ id, ...ILIAD }]);
    });

    test('changes what it has read behind a proxy that compresses and alters entity tags', async () => {
      await using service = await startService({ engine, hasHistory: true });
      for (const [before, after] of ALTERATIONS) {
        await using proxy = await startAlteringProxy(service.url, before, after);
        const books = createClient({ url: proxy.url, ...CREDENTIALS });
        const created = await books.create(ILIAD);
        const { id, etag: ifMatch = '' } = created;
        const updated = await books.update(id, { year: 1 }, { ifMatch });
        assert.deepEqual(await createClient({ url: service.url, ...CREDENTIALS }).find(id), updated);
        assert.equal(await books.find(id, { known: updated }), updated);
        await books.updateMany([{ id, year: 2, ifMatch: updated?.etag ?? '' }]);
        await assert.rejects(books.update(id, { year: 3 }, { ifMatch }), { status: 412 });
        const found = await books.find(id);
        assert.equal(await books.delete(id, { ifMatch: found?.etag ?? '' }), true);
        assert.deepEqual(await books.restore(id, { ifMatch: found?.etag ?? '' }), found);
        assert.ok(proxy.tags.size >= 3);
        for (const tag of proxy.tags) assert.ok(tag.startsWith(before) && tag.endsWith(`${after}"`), tag);
      }
    });

    test('preserves all characters', async () => {
      await using service = await startService({ engine });
      const books = createClient({ url: service.url, ...CREDENTIALS });
      const title = 'Ĉu ne? "ß" \\ 書 \u{1F4DA} e\u0301 \u2028 <script>';
      const { id } = await books.create({ title, year: Number.MIN_SAFE_INTEGER });
      const found = await books.find(id);
      assert.deepEqual([found?.title, found?.year], [title, Number.MIN_SAFE_INTEGER]);
    });

    test('lists every book once, with any page size', async () => {
      await using service = await startService({ engine });
      const books = createClient({ url: service.url, ...CREDENTIALS });
      const created = await Promise.all(
        Array.from({ length: 25 }, (_, index) => books.create({ title: `Book ${index}` })),
      );
      const ids = created.map(({ id }) => id).toSorted((a, b) => a - b);
      for (const limit of [1, 10, 25, 1_000]) {
        const listed = await all(books.list({ limit }));
        assert.deepEqual(
          listed.map(({ id }) => id),
          ids,
        );
      }
    });

    test('throws 400 for an invalid book', async () => {
      await using service = await startService({ engine });
      const books = createClient({ url: service.url, ...CREDENTIALS });
      for (const fields of [{ year: 1.5 }, { title: '\u0000' }, { author: null as unknown as string }]) {
        const error = { status: 400, message: 'Invalid input', mayHaveHappened: false };
        await assert.rejects(books.create(fields), error);
      }
      const { id } = await books.create(ILIAD);
      await assert.rejects(books.update(id, { year: Number.NaN }), { status: 400, message: 'Invalid input' });
    });
  });
}

describe('The session of a client', () => {
  test('starts with one sign-in for concurrent calls', async () => {
    await using service = await startService();
    const books = createClient({ url: service.url, ...CREDENTIALS });
    await Promise.all(Array.from({ length: 50 }, () => books.create(ILIAD)));
    assert.equal((await all(books.list())).length, 50);
    assert.equal(signInsOf(service), 1);
  });

  test('is renewed before tokens expire', async (context) => {
    let now = Date.now();
    // The `Date` header of Node has the real time, and the service of this test another one.
    const { fetch } = globalThis;
    context.mock.method(globalThis, 'fetch', async (...args: Parameters<typeof fetch>) => {
      const response = await fetch(...args);
      const headers = new Headers(response.headers);
      headers.set('date', new Date(now).toUTCString());
      return new Response(response.body, { status: response.status, headers });
    });
    await using service = await startService({ now: () => now });
    const books = createClientWith({ ...DEPENDENCIES, now: () => now }, { url: service.url, ...CREDENTIALS });
    for (let minutes = 0; minutes <= 60; minutes += 5) {
      assert.equal(await books.find(1), undefined);
      now += 5 * MINUTES_MS;
    }
    assert.equal(signInsOf(service), 5);
    assert.equal(statusesOf(service).includes(401), false);
  });

  test('is renewed when tokens expire by the clock of the service only', async () => {
    let now = Date.now();
    await using service = await startService({ now: () => now });
    const books = createClient({ url: service.url, ...CREDENTIALS });
    const { id } = await books.create(ILIAD);
    now += 16 * MINUTES_MS;
    assert.equal((await books.update(id, { year: -700 }))?.year, -700);
    now += 16 * MINUTES_MS;
    const calls = Array.from({ length: 20 }, () => books.find(id));
    assert.ok((await Promise.all(calls)).every((book) => book?.year === -700));
    assert.equal(signInsOf(service), 3);
  });

  test('can use tokens that are renewed without the password, as long as they are valid', async () => {
    let offsetMs = 0;
    await using service = await startService({ now: () => Date.now() + offsetMs });
    const { url } = service;
    const { text } = await requestToken({ url, username: USERNAME, password: PASSWORD, scope: 'read' });
    const { text: token, expiresAt } = await renewToken({ url, token: text });
    assert.ok(Math.abs(expiresAt - Date.now() - 15 * 60_000) < 60_000);
    const client = createClient({ url, token });
    assert.equal(await client.find(1), undefined);
    await assert.rejects(client.create({}), { status: 403 });
    offsetMs = 16 * 60_000;
    await assert.rejects(renewToken({ url, token, attemptsMax: 1 }), RefusedError);
  });

  test('can use a given token', async () => {
    await using service = await startService();
    const books = createClient({ url: service.url, token: service.token });
    assert.equal((await books.create(ILIAD)).title, 'The Iliad');
    assert.equal(signInsOf(service), 0);
    const stranger = createClient({ url: service.url, token: 'Bearer nonsense' });
    await assert.rejects(stranger.create(ILIAD), { status: 401, message: 'Invalid token' });
  });

  test('fails with a wrong password', async () => {
    await using service = await startService();
    const books = createClient({ url: service.url, ...CREDENTIALS, password: 'wrong' });
    await assert.rejects(books.create(ILIAD), (error) => {
      assert.ok(error instanceof RefusedError);
      assert.deepEqual([error.status, error.message], [401, 'Invalid credentials']);
      return true;
    });
    assert.equal(signInsOf(service), 1);
  });

  test('fails after too many wrong passwords, with Retry-After', async () => {
    await using service = await startService({ httpLimits: { failedLogins: 1 } });
    const stranger = createClient({ url: service.url, ...CREDENTIALS, password: 'wrong' });
    await assert.rejects(stranger.find(1), { status: 401 });
    const books = createClient({ url: service.url, ...CREDENTIALS });
    await assert.rejects(books.find(1), (error) => {
      assert.ok(error instanceof RefusedError);
      assert.deepEqual([error.status, error.message], [429, 'Too many requests']);
      const { retryAfterSeconds = 0 } = error;
      assert.ok(retryAfterSeconds > 30 && retryAfterSeconds <= 60, String(retryAfterSeconds));
      return true;
    });
  });
});

describe('A client', () => {
  test('with a wrong URL throws 404 instead of reporting an absent book', async () => {
    await using service = await startService();
    const books = createClient({ url: `${service.url}/api`, token: service.token });
    for (const call of [() => books.find(1), () => books.delete(1), () => books.update(1, {})]) {
      await assert.rejects(call, { status: 404, message: 'Not found' });
    }
  });

  test('throws a NoResponseError when the service has stopped', async () => {
    const service = await startService();
    const books = createClient({ url: service.url, ...CREDENTIALS, attemptsMax: 2 });
    await books.create(ILIAD);
    await service[Symbol.asyncDispose]();
    await assert.rejects(books.find(1), { name: 'NoResponseError', reason: 'network' });
  });
});

async function all(list: AsyncIterable<Book>): Promise<Book[]> {
  const books: Book[] = [];
  for await (const book of list) books.push(book);
  return books;
}

/** Books of a list have no ETag. */
function withoutEtag({ id, title, author, year }: Book): Book {
  return { id, title, author, year };
}

function signInsOf({ log }: Service): number {
  return log.filter((line) => line.includes('"route":"/token"')).length;
}

function statusesOf({ log }: Service): unknown[] {
  return log.map((line) => (JSON.parse(line) as { status?: unknown }).status);
}
