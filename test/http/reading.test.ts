import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertError, assertSuccess } from '../../testkit/assertions.ts';
import { Connection, request } from '../../testkit/connection.ts';
import { parseLog } from '../../testkit/log.ts';
import { LOGIN, shareService, startService, TITLE } from '../../testkit/service.ts';

const BODY = JSON.stringify({ title: TITLE });
const MEBIBYTE = 1_024 * 1_024;

describe('Expect: 100-continue', () => {
  const sharedService = shareService();

  const EXPECT = ['Expect: 100-continue', `Content-Length: ${BODY.length}`];

  test('100 Continue is sent after the token check, and the connection stays open', async () => {
    const service = await sharedService();
    using connection = await Connection.open(service);
    for (const [start, status, message] of [
      ['POST /book', 201, 'Book created successfully'],
      ['PUT /book/1', 200, 'Book updated successfully'],
    ] as const) {
      await connection.send(request(start, [service.authorization, ...EXPECT]));
      assert.equal((await connection.response()).status, 100);
      await connection.send(BODY);
      assertSuccess(await connection.response(), status, message);
    }
  });

  test('100 Continue is not sent before an error response, and the connection is closed', async () => {
    const service = await sharedService();
    const tooLong = ['Expect: 100-continue', `Content-Length: ${MEBIBYTE + 1}`];
    for (const [start, lines, status, message] of [
      ['POST /book', EXPECT, 401, 'Authorization token required'],
      ['PUT /book/1', ['Authorization: nonsense', ...EXPECT], 401, 'Invalid token'],
      ['PUT /book/x', [service.authorization, ...EXPECT], 404, 'Book not found'],
      ['POST /nowhere', EXPECT, 404, 'Not found'],
      ['PATCH /book/1', EXPECT, 405, 'Method not allowed'],
      ['POST /book', [service.authorization, ...tooLong], 413, 'Payload too large'],
      ['POST /token', tooLong, 413, 'Payload too large'],
      ['PUT /book/9', [service.authorization, ...tooLong], 404, 'Book not found'],
    ] as const) {
      using connection = await Connection.open(service);
      await connection.send(request(start, lines));
      const response = await connection.response();
      assertError(response, status, message);
      assert.equal(response.headers.get('connection'), 'close');
      connection.reset();
    }
  });

  test('a client that does not wait for 100 Continue gets its response', async () => {
    const service = await sharedService();
    using connection = await Connection.open(service);
    await connection.send(request('POST /book', [service.authorization, ...EXPECT]) + BODY);
    assert.equal((await connection.response()).status, 100);
    assertSuccess(await connection.response(), 201, 'Book created successfully');
  });

  test('100 Continue is not sent in HTTP/1.0 (RFC 9110, section 10.1.1)', async () => {
    const service = await sharedService();
    using connection = await Connection.open(service);
    const head = ['POST /book HTTP/1.0', service.authorization, ...EXPECT].join('\r\n');
    await connection.send(`${head}\r\n\r\n${BODY}`);
    assertSuccess(await connection.response(), 201, 'Book created successfully');
  });

  test('any other expectation gets 417, and the connection is closed', async () => {
    const service = await sharedService();
    using connection = await Connection.open(service);
    const lines = [service.authorization, 'Expect: 200-ok', `Content-Length: ${BODY.length}`];
    await connection.send(request('POST /book', lines) + BODY);
    assertError(await connection.response(), 417, 'Expectation failed');
    assert.equal(await connection.rest(), '');
  });
});

describe('413 Payload too large', () => {
  const sharedService = shareService();

  const CHUNK = `10000\r\n${'x'.repeat(0x10000)}\r\n`;

  for (const start of ['POST /token', 'POST /book', 'PUT /book/1']) {
    test(`${start} with Content-Length: a client that sends everything first can read the response, then the connection is closed`, async () => {
      const service = await sharedService();
      await service.fetch('POST', '/book', BODY);
      using connection = await Connection.open(service);
      await connection.send(request(start, [service.authorization], 'x'.repeat(8 * MEBIBYTE)));
      assertError(await connection.response(), 413, 'Payload too large');
      assert.equal(await connection.rest(), '');
    });

    test(`${start} with chunks: a client that sends everything first can read the response, then the connection is closed`, async () => {
      const service = await sharedService();
      await service.fetch('POST', '/book', BODY);
      using connection = await Connection.open(service);
      await connection.send(request(start, [service.authorization, 'Transfer-Encoding: chunked']));
      await connection.send(`${CHUNK.repeat(100)}0\r\n\r\n`);
      assertError(await connection.response(), 413, 'Payload too large');
      assert.equal(await connection.rest(), '');
    });
  }

  test('the connection of a client that sends without end is closed', async () => {
    const service = await sharedService();
    using connection = await Connection.open(service);
    await connection.send(request('POST /book', [service.authorization, 'Transfer-Encoding: chunked']));
    while (!connection.isBroken) await connection.send(CHUNK.repeat(16));
    assert.equal((await service.fetch('GET', '/books')).status, 200);
  });
});

describe('Slow clients', () => {
  const sharedService = shareService();

  test('a request may arrive byte by byte', async () => {
    const service = await sharedService();
    using connection = await Connection.open(service);
    for (const bytes of [
      request('POST /token', [], LOGIN),
      `${request('POST /token', ['Transfer-Encoding: chunked'])}${LOGIN.length.toString(16)};x=y\r\n${LOGIN}\r\n0\r\nName: value\r\n\r\n`,
    ]) {
      for (const byte of Buffer.from(bytes)) await connection.send(Uint8Array.of(byte));
      assertSuccess(await connection.response(), 200, 'Token generated successfully');
    }
  });

  test('a client that has half-closed its connection gets its responses', async () => {
    const service = await sharedService();
    const create = request('POST /book', [service.authorization], BODY);
    for (const count of [1, 5]) {
      using connection = await Connection.open(service);
      await connection.send(create.repeat(count));
      connection.finish();
      for (let index = 0; index < count; index++) {
        assertSuccess(await connection.response(), 201, 'Book created successfully');
      }
      assert.equal(await connection.rest(), '');
    }
  });

  test('a client that half-closes its connection within a request gets 400 Bad request', async () => {
    const service = await sharedService();
    for (const bytes of [
      request('POST /book', [service.authorization], BODY).slice(0, -1),
      request('POST /token', [], LOGIN).slice(0, -1),
      `${request('POST /token', ['Transfer-Encoding: chunked'])}2\r\n{}\r\n`,
      'GET /books HTTP/1.1\r\nHost:',
    ]) {
      using connection = await Connection.open(service);
      await connection.send(bytes);
      await service.fetch('GET', '/books');
      connection.finish();
      assertError(await connection.response(), 400, 'Bad request');
      assert.equal(await connection.rest(), '');
    }
  });
});

test('Clients that reset their connection at any point do not affect others', async () => {
  await using service = await startService();
  const create = request('POST /book', [service.authorization], BODY);
  const requests = [
    create,
    request('GET /books', [service.authorization]),
    request('POST /token', [], LOGIN),
  ];
  for (const bytes of [...requests, ...requests.map((each) => each.repeat(10))]) {
    for (let length = 1; length <= bytes.length; length += Math.ceil(bytes.length / 30)) {
      using connection = await Connection.open(service);
      await connection.send(bytes.slice(0, length));
      connection.reset();
    }
  }
  assert.equal((await service.fetch('GET', '/books')).status, 200);
  assert.deepEqual(
    parseLog(service.log).filter(({ level }) => level > 30),
    [],
  );
});
