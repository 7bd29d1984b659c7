import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefusal, assertSuccess } from './answers.ts';
import { Connection, request } from './connection.ts';
import { startService } from './service.ts';

/** What is no HTTP, by what is wrong with it. */
const MALFORMED: Readonly<Record<string, string | Uint8Array>> = {
  words: 'good morning\r\n\r\n',
  'nothing but zeros': new Uint8Array(64),
  'the start of TLS': Buffer.from('16030100a5010000a10303', 'hex'),
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'a version that does not exist': 'GET /books HTTP/1.2\r\nHost: localhost\r\n\r\n',
  'a method in small letters': 'get /books HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'a method that nobody knows': 'FETCH /books HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'no target': 'GET  HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'a target with a space': 'GET /book/1 or 2 HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'a target with bytes beyond ASCII': Buffer.from('GET /b\xf6\xf6ks HTTP/1.1\r\n\r\n', 'latin1'),
  'a target with U+0000': 'GET /book/\0 HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'lines that end in LF alone': 'GET /books HTTP/1.1\nHost: localhost\n\n',
  'a header line without a colon': request('GET /books', ['nothing']),
  'a header line without a name': request('GET /books', [': nothing']),
  'a space before the colon': request('GET /books', ['Name : value']),
  'a folded header line': request('GET /books', ['Name: value', ' goes on']),
  'a header value with U+0000': request('GET /books', ['Name: \0']),
  'a header value with CR': request('GET /books', ['Name: a\rb']),
  'no Host': 'GET /books HTTP/1.1\r\n\r\n',
  'two Hosts': request('GET /books', ['Host: localhost']),
  'a length that is a word': request('POST /token', ['Content-Length: two']),
  'a length with a sign': request('POST /token', ['Content-Length: +2']),
  'a length in hexadecimal': request('POST /token', ['Content-Length: 0x2']),
  'a list of lengths': request('POST /token', ['Content-Length: 2, 2']),
  'a length beyond all bounds': request('POST /token', ['Content-Length: 99999999999999999999']),
  'two lengths': request('POST /token', ['Content-Length: 2', 'Content-Length: 3']),
  'a length and chunks': request('POST /token', ['Content-Length: 2', 'Transfer-Encoding: chunked']),
  'chunks that are not the last coding': request('POST /token', ['Transfer-Encoding: chunked, gzip']),
};

/** Bodies that are not made of chunks, though their head says so. */
const BAD_CHUNKS: Readonly<Record<string, string>> = {
  'a size that is a word': 'two\r\n{}\r\n0\r\n\r\n',
  'a size with a sign': '-2\r\n{}\r\n0\r\n\r\n',
  'a size beyond all bounds': 'ffffffffffffffffff\r\n{}\r\n0\r\n\r\n',
  'a size that is too small': '1\r\n{}\r\n0\r\n\r\n',
  'no size': '\r\n{}\r\n0\r\n\r\n',
  'a bad trailer': '2\r\n{}\r\n0\r\nnothing\r\n\r\n',
};

describe('400 Bad request, once, and the connection ends:', () => {
  for (const [name, bytes] of Object.entries(MALFORMED)) {
    test(name, async () => {
      await using service = await startService();
      using connection = await Connection.open(service);
      await connection.send(bytes);
      const answer = await connection.answer();
      assertRefusal(answer, 400, 'Bad request');
      assert.equal(answer.headers.get('connection'), 'close');
      assert.equal(await connection.rest(), '');
    });
  }
});

test('what is malformed is refused on a connection that has seen better requests, too', async () => {
  await using service = await startService();
  for (const bytes of Object.values(MALFORMED)) {
    using connection = await Connection.open(service);
    await connection.send(request('GET /books', [service.authorization]));
    assertSuccess(await connection.answer(), 200, 'Books retrieved successfully');
    await connection.send(bytes);
    assertRefusal(await connection.answer(), 400, 'Bad request');
    assert.equal(await connection.rest(), '');
  }
});

describe('400 Bad request for a body of bad chunks', () => {
  for (const start of ['POST /token', 'POST /book', 'PUT /book/1']) {
    test(`that comes behind the head of ${start}`, async () => {
      await using service = await startService();
      for (const body of Object.values(BAD_CHUNKS)) {
        using connection = await Connection.open(service);
        await connection.send(request('GET /books', [service.authorization]));
        await connection.answer();
        await connection.send(request(start, [service.authorization, 'Transfer-Encoding: chunked']));
        // The answer to somebody else shows that the head has been read meanwhile.
        await service.fetch('GET', '/nowhere');
        await connection.send(body);
        assertRefusal(await connection.answer(), 400, 'Bad request');
        assert.equal(await connection.rest(), '');
      }
    });

    test(`that comes together with the head of ${start}, its token never seen before`, async () => {
      for (const body of Object.values(BAD_CHUNKS)) {
        await using service = await startService();
        using connection = await Connection.open(service);
        const head = request(start, [service.authorization, 'Transfer-Encoding: chunked']);
        await connection.send(head + body);
        assertRefusal(await connection.answer(), 400, 'Bad request');
        assert.equal(await connection.rest(), '');
      }
    });
  }
});

test('a malformed body stores nothing', async () => {
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

test('431 Request header fields too large, once, and the connection ends', async () => {
  await using service = await startService();
  for (const lines of [
    [`Name: ${'x'.repeat(20_000)}`],
    [`${'x'.repeat(20_000)}: value`],
    Array.from({ length: 4_000 }, (_, index) => `Name-${index}: value`),
  ]) {
    using connection = await Connection.open(service);
    await connection.send(request('GET /books', lines));
    assertRefusal(await connection.answer(), 431, 'Request header fields too large');
    assert.equal(await connection.rest(), '');
  }
});

test('a refused client that is still sending gets to read its answer', async () => {
  await using service = await startService();
  const megabytes = 'x'.repeat(4 * 1_024 * 1_024);
  for (const [bytes, status] of [
    [`good morning ${megabytes}`, 400],
    [request('GET /books', [`Name: ${megabytes}`]), 431],
  ] as const) {
    using connection = await Connection.open(service);
    await connection.send(bytes);
    assert.equal((await connection.answer()).status, status);
  }
});
