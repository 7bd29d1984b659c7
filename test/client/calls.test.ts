import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type BookClient,
  BookkeepingError,
  createClient,
  NoResponseError,
  RefusedError,
} from '../../client/index.ts';
import { findFreePort } from '../../testkit/free-port.ts';
import { CREDENTIALS, hasty } from './clients.ts';
import { type Reaction, ScriptedServer, type SeenRequest } from './scripted-server.ts';

const BOOK = { id: 7, title: 'The Iliad', author: 'Homer', year: -750 };
const FIELDS = { title: 'The Iliad', author: 'Homer', year: -750 };
const FOUND: Reaction = { status: 200, data: BOOK, headers: { ETag: '"1"' } };
const NOT_FOUND: Reaction = { status: 404, message: 'Book not found' };
const CHANGED: Reaction = { status: 412, message: 'Precondition failed' };

describe('The request and the result of', () => {
  const CALLS: Record<
    string,
    [
      call: (client: BookClient) => Promise<unknown>,
      sent: Partial<SeenRequest>,
      reaction: Reaction,
      result: unknown,
    ]
  > = {
    create: [
      (client) => client.create(FIELDS),
      { method: 'POST', path: '/book', body: JSON.stringify(FIELDS) },
      { status: 201, data: BOOK, headers: { ETag: '"1"' } },
      { ...BOOK, etag: '"1"' },
    ],
    createMany: [
      (client) => client.createMany([FIELDS, { title: 'The Odyssey' }]),
      { method: 'POST', path: '/books', body: JSON.stringify([FIELDS, { title: 'The Odyssey' }]) },
      { status: 201, data: [BOOK, BOOK] },
      [BOOK, BOOK],
    ],
    updateMany: [
      (client) =>
        client.updateMany([
          { id: 7, year: -750, ifMatch: '"1"' },
          { id: 8, deleted: true },
        ]),
      {
        method: 'PATCH',
        path: '/books',
        body: String.raw`[{"id":7,"year":-750,"ifMatch":"\"1\""},{"id":8,"deleted":true}]`,
      },
      { status: 200, data: [BOOK, null] },
      [BOOK, null],
    ],
    find: [
      (client) => client.find(7),
      { method: 'GET', path: '/book/7', body: '' },
      FOUND,
      { ...BOOK, etag: '"1"' },
    ],
    'find, without an ETag': [
      (client) => client.find(7),
      { method: 'GET', path: '/book/7', body: '' },
      { status: 200, data: BOOK },
      { ...BOOK, etag: undefined },
    ],
    'find, for an absent book': [
      (client) => client.find(8),
      { method: 'GET', path: '/book/8', body: '' },
      NOT_FOUND,
      undefined,
    ],
    update: [
      (client) => client.update(7, { year: -750 }),
      { method: 'PUT', path: '/book/7', body: '{"year":-750}' },
      FOUND,
      { ...BOOK, etag: '"1"' },
    ],
    'update, for an absent book': [
      (client) => client.update(8, {}),
      { method: 'PUT', path: '/book/8', body: '{}' },
      NOT_FOUND,
      undefined,
    ],
    delete: [
      (client) => client.delete(7),
      { method: 'DELETE', path: '/book/7', body: '' },
      { status: 200 },
      true,
    ],
    'delete, for an absent book': [
      (client) => client.delete(8),
      { method: 'DELETE', path: '/book/8', body: '' },
      NOT_FOUND,
      false,
    ],
  };
  for (const [name, [call, sent, reaction, result]] of Object.entries(CALLS)) {
    test(name, async () => {
      await using server = await ScriptedServer.start([reaction]);
      assert.deepEqual(await call(hasty(server).client), result);
      const [{ headers, ...seen } = { headers: {} }] = server.requests;
      assert.deepEqual(seen, sent);
      assert.equal(headers['content-type'], sent.body === '' ? undefined : 'application/json');
      assert.equal(headers['if-match'], undefined);
      assert.equal(headers['if-none-match'], undefined);
      assert.equal('idempotency-key' in headers, name.startsWith('create'));
    });
  }

  test('find, for an invalid id, which is encoded', async () => {
    await using server = await ScriptedServer.start([NOT_FOUND, NOT_FOUND]);
    const { client } = hasty(server);
    for (const id of ['../books?limit=1#', 1.5]) assert.equal(await client.find(id as number), undefined);
    assert.deepEqual(
      server.requests.map(({ path }) => path),
      ['/book/..%2Fbooks%3Flimit%3D1%23', '/book/1.5'],
    );
  });
});

describe('find with a known book', () => {
  const known = { ...BOOK, etag: '"1"' };

  test('returns it when it has not changed', async () => {
    await using server = await ScriptedServer.start([{ status: 304, headers: { ETag: '"1"' } }]);
    assert.equal(await hasty(server).client.find(7, { known }), known);
    assert.equal(server.requests[0]?.headers['if-none-match'], '"1"');
  });

  test('returns the new version when it has changed', async () => {
    const changed = { ...BOOK, year: -700 };
    await using server = await ScriptedServer.start([
      { status: 200, data: changed, headers: { ETag: '"2"' } },
    ]);
    assert.deepEqual(await hasty(server).client.find(7, { known }), { ...changed, etag: '"2"' });
  });

  test('returns undefined when it was deleted', async () => {
    await using server = await ScriptedServer.start([NOT_FOUND]);
    assert.equal(await hasty(server).client.find(7, { known }), undefined);
  });

  test('is unconditional without an ETag', async () => {
    await using server = await ScriptedServer.start([FOUND]);
    await hasty(server).client.find(7, { known: { ...BOOK, etag: undefined } });
    assert.equal(server.requests[0]?.headers['if-none-match'], undefined);
  });
});

describe('A conditional write', () => {
  for (const [name, write] of Object.entries<(client: BookClient) => Promise<unknown>>({
    update: (client) => client.update(7, {}, { ifMatch: '"1"' }),
    delete: (client) => client.delete(7, { ifMatch: '"1"' }),
  })) {
    test(`${name} sends If-Match`, async () => {
      await using server = await ScriptedServer.start([FOUND]);
      assert.ok(await write(hasty(server).client));
      assert.equal(server.requests[0]?.headers['if-match'], '"1"');
    });

    test(`${name} throws 412 when the book has changed`, async () => {
      await using server = await ScriptedServer.start([CHANGED]);
      await assert.rejects(write(hasty(server).client), {
        name: 'RefusedError',
        status: 412,
        message: 'Precondition failed',
        mayHaveHappened: false,
      });
    });
  }

  test('throws a TypeError when ifMatch is undefined', async () => {
    await using server = await ScriptedServer.start([]);
    const { client } = hasty(server);
    // Without strict types, a caller may write { ifMatch: book.etag }.
    const condition = { ifMatch: undefined } as unknown as { ifMatch: string };
    await assert.rejects(client.update(7, {}, condition), TypeError);
    await assert.rejects(client.delete(7, condition), TypeError);
    await assert.rejects(client.updateMany([{ id: 8 }, { id: 7, ...condition }]), TypeError);
    assert.equal(server.requests.length, 0);
  });
});

describe('An error', () => {
  test('has the request, what is wrong with it, and the index of the first invalid book', async () => {
    const headers = { 'Invalid-Index': '1', 'Error-Detail': 'year must be an integer', 'X-Request-Id': 'r1' };
    const response: Reaction = { status: 400, message: 'Invalid input', headers };
    await using server = await ScriptedServer.start([response]);
    const books = [FIELDS, { title: 'The Odyssey', year: 1.5 }];
    await assert.rejects(hasty(server).client.createMany(books), {
      status: 400,
      message: 'Invalid input',
      invalidIndex: 1,
      method: 'POST',
      path: '/books',
      detail: 'year must be an integer',
      requestId: 'r1',
    });
  });

  test('response causes a RefusedError', async () => {
    await using server = await ScriptedServer.start([{ status: 400, message: 'Invalid input' }]);
    await assert.rejects(hasty(server).client.create({}), (error) => {
      assert.ok(error instanceof RefusedError && error instanceof BookkeepingError && error instanceof Error);
      assert.equal(error.name, 'RefusedError');
      assert.equal(error.invalidIndex, undefined);
      assert.equal(error.retryAfterSeconds, undefined);
      return true;
    });
  });

  test('response of a proxy causes a RefusedError with its status', async () => {
    await using server = await ScriptedServer.start([{ status: 403, content: '<h1>Forbidden</h1>' }]);
    await assert.rejects(hasty(server).client.find(7), {
      name: 'RefusedError',
      status: 403,
      message: 'HTTP 403',
    });
  });

  test('of the connection causes a NoResponseError with its cause', async () => {
    const client = createClient({
      url: `http://127.0.0.1:${await findFreePort()}`,
      ...CREDENTIALS,
      attemptsMax: 1,
    });
    await assert.rejects(client.find(7), (error) => {
      assert.ok(error instanceof NoResponseError && error instanceof BookkeepingError);
      assert.equal(error.name, 'NoResponseError');
      assert.equal(error.reason, 'network');
      assert.match(error.message, /^POST \/token: /);
      assert.ok(error.cause instanceof Error);
      return true;
    });
  });

  test('by timeout causes a NoResponseError', async () => {
    await using server = await ScriptedServer.start(['silence']);
    const { client } = hasty(server, { token: 'a.b.c', timeoutMs: 20, attemptsMax: 1 });
    await assert.rejects(
      client.find(7),
      (error) => error instanceof NoResponseError && error.reason === 'timeout',
    );
  });

  test('is unreadable when the status in the body is another one', async () => {
    const content = '{"status":201,"message":"OK","data":{}}';
    await using server = await ScriptedServer.start([{ status: 200, content }]);
    await assert.rejects(hasty(server).client.find(7), { name: 'NoResponseError', reason: 'unreadable' });
  });

  test('contains neither password nor token', async () => {
    await using server = await ScriptedServer.start(['cut', { status: 500 }], ['cut', { status: 401 }]);
    const { client } = hasty(server, { attemptsMax: 1 });
    for (let call = 0; call < 2; call++) await assertNoSecret(client.find(7));
    const { client: other } = hasty(server, { attemptsMax: 1, token: 'the.token.given' });
    for (let call = 0; call < 2; call++) await assertNoSecret(other.find(7));
  });
});

describe('The URL of the service', () => {
  for (const [path, expected] of [
    ['', '/book/7'],
    ['/', '/book/7'],
    ['/library/api', '/library/api/book/7'],
    ['/library/api/?x=1#y', '/library/api/book/7'],
  ] as const) {
    test(`may end in "${path}"`, async () => {
      await using server = await ScriptedServer.start([FOUND, FOUND]);
      await hasty({ url: server.url + path }).client.find(7);
      await hasty(server, { url: new URL(server.url + path) }).client.find(7);
      assert.deepEqual(
        server.requests.map((request) => request.path),
        [expected, expected],
      );
    });
  }

  test('must be HTTP', () => {
    for (const url of ['', 'localhost:8080', '/books', 'ftp://localhost']) {
      assert.throws(() => createClient({ url, ...CREDENTIALS }), TypeError, url);
    }
  });

  test('receives all requests: redirects, which would send password and token, are not followed', async () => {
    await using stranger = await ScriptedServer.start([FOUND]);
    const away = (path: string): Reaction => ({
      status: 307,
      content: '',
      headers: { Location: stranger.url + path },
    });
    await using server = await ScriptedServer.start([away('/book/7')], [away('/token')]);
    const { client } = hasty(server, { attemptsMax: 1 });
    await assert.rejects(client.find(7), NoResponseError);
    await assert.rejects(client.find(7), NoResponseError);
    assert.equal(server.requests.length, 1);
    assert.deepEqual([...stranger.requests, ...stranger.signIns], []);
  });
});

async function assertNoSecret(call: Promise<unknown>): Promise<void> {
  await assert.rejects(call, (error) => {
    const text = `${String(error)} ${JSON.stringify(error)} ${(error as Error).stack}`;
    assert.ok(!text.includes(CREDENTIALS.password) && !text.includes('the.token'), text);
    return error instanceof BookkeepingError;
  });
}
