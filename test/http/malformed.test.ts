import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { makeToken } from '../../conformance/tokens.ts';
import { assertError, assertSuccess } from '../../testkit/assertions.ts';
import { Connection, request } from '../../testkit/connection.ts';
import { BAD_CHUNKS, MALFORMED } from '../../testkit/malformed.ts';
import { SECRET, shareService, startService } from '../../testkit/service.ts';

describe('One 400 Bad request and the end of the connection follow', () => {
  const sharedService = shareService();

  for (const [name, bytes] of Object.entries(MALFORMED)) {
    test(name, async () => {
      const service = await sharedService();
      using connection = await Connection.open(service);
      await connection.send(Buffer.from(bytes, 'latin1'));
      const response = await connection.response();
      assertError(response, 400, 'Bad request');
      assert.equal(response.headers.get('connection'), 'close');
      assert.equal(await connection.rest(), '');
    });
  }
});

describe('400 Bad request without content follows a HEAD request with', () => {
  const sharedService = shareService();

  for (const [name, bytes] of Object.entries(MALFORMED)) {
    const head = bytes.replace(/^(?:GET|POST) /, 'HEAD ');
    if (head === bytes) continue;
    test(name, async () => {
      const service = await sharedService();
      using connection = await Connection.open(service);
      await connection.send(Buffer.from(head, 'latin1'));
      const response = await connection.response(true);
      assert.equal(response.status, 400);
      assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
      assert.equal(await connection.rest(), '');
    });
  }

  test('another request before it; it has content when only the other request is HEAD', async () => {
    const service = await sharedService();
    const malformed = 'GET /books\r\n\r\n';
    using first = await Connection.open(service);
    await first.send(request('GET /nowhere') + malformed.replace('GET', 'HEAD'));
    assertError(await first.response(), 404, 'Not found');
    assert.equal((await first.response(true)).status, 400);
    assert.equal(await first.rest(), '');
    for (const other of [malformed, 'good morning\r\n\r\n']) {
      using second = await Connection.open(service);
      await second.send(request('HEAD /nowhere') + other);
      assert.equal((await second.response(true)).status, 404);
      assertError(await second.response(), 400, 'Bad request');
    }
  });
});

test('Malformed HTTP gets 400 also after well-formed requests on the same connection', async () => {
  await using service = await startService();
  for (const bytes of Object.values(MALFORMED)) {
    using connection = await Connection.open(service);
    await connection.send(request('GET /books', [service.authorization]));
    assertSuccess(await connection.response(), 200, 'Books retrieved successfully');
    await connection.send(Buffer.from(bytes, 'latin1'));
    assertError(await connection.response(), 400, 'Bad request');
    assert.equal(await connection.rest(), '');
  }
});

describe('A body with malformed chunks gets 400 Bad request', () => {
  const sharedService = shareService();

  for (const start of ['POST /token', 'POST /book', 'PUT /book/1']) {
    test(`after the headers of ${start}`, async () => {
      const service = await sharedService();
      for (const body of Object.values(BAD_CHUNKS)) {
        using connection = await Connection.open(service);
        await connection.send(request('GET /books', [service.authorization]));
        await connection.response();
        await connection.send(request(start, [service.authorization, 'Transfer-Encoding: chunked']));
        // The response on another connection shows that the headers have been read.
        await service.fetch('GET', '/nowhere');
        await connection.send(body);
        assertError(await connection.response(), 400, 'Bad request');
        assert.equal(await connection.rest(), '');
      }
    });

    test(`together with the headers of ${start} and a new token`, async () => {
      const service = await sharedService();
      for (const [name, body] of Object.entries(BAD_CHUNKS)) {
        using connection = await Connection.open(service);
        const token = makeToken(SECRET, { payload: { name } });
        const head = request(start, [`Authorization: ${token}`, 'Transfer-Encoding: chunked']);
        await connection.send(head + body);
        assertError(await connection.response(), 400, 'Bad request');
        assert.equal(await connection.rest(), '');
      }
    });
  }
});

test('A malformed body changes nothing', async () => {
  await using service = await startService();
  for (const body of Object.values(BAD_CHUNKS)) {
    using connection = await Connection.open(service);
    await service.fetch('GET', '/books');
    await connection.send(
      request('POST /book', [service.authorization, 'Transfer-Encoding: chunked']) + body,
    );
    await connection.rest();
  }
  const list = (await (await service.fetch('GET', '/books')).json()) as { data: unknown };
  assert.deepEqual(list.data, []);
});

test('Too large headers get one 431 Request header fields too large, and the connection is closed', async () => {
  await using service = await startService();
  for (const lines of [
    [`Name: ${'x'.repeat(20_000)}`],
    [`${'x'.repeat(20_000)}: value`],
    Array.from({ length: 4_000 }, (_, index) => `Name-${index}: value`),
  ]) {
    using connection = await Connection.open(service);
    await connection.send(request('GET /books', lines));
    assertError(await connection.response(), 431, 'Request header fields too large');
    assert.equal(await connection.rest(), '');
  }
});

test('A client that is still sending can read its error response', async () => {
  await using service = await startService();
  const megabytes = 'x'.repeat(4 * 1_024 * 1_024);
  for (const [bytes, status] of [
    [`good morning ${megabytes}`, 400],
    [request('GET /books', [`Name: ${megabytes}`]), 431],
  ] as const) {
    using connection = await Connection.open(service);
    await connection.send(bytes);
    assert.equal((await connection.response()).status, status);
  }
});
