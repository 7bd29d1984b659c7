import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { assertError, assertSuccess } from '../../testkit/assertions.ts';
import { Connection, request } from '../../testkit/connection.ts';
import { LOGIN, type Service, startService, TITLE } from '../../testkit/service.ts';

const BODY = JSON.stringify({ title: TITLE });
const MALFORMED = 'good morning\r\n\r\n';

describe('Pipelined requests', () => {
  test('of many connections delay a new connection by one of them for each connection before it', async () => {
    await using service = await startService();
    const small = 'GET /nowhere HTTP/1.1\r\nHost:\r\n\r\n';
    const attackers = Array.from({ length: 100 }, () => {
      const socket = connect({ host: '127.0.0.1', port: service.port }).on('error', () => {});
      socket.write(small.repeat(10));
      return socket;
    });
    // To their address, as looking up a name might take longer than all their requests.
    using connection = await Connection.open({ port: service.port, localAddress: '127.0.0.1' });
    await connection.send(small);
    const response = await connection.response();
    assertError(response, 404, 'Not found');
    const id = response.headers.get('x-request-id') ?? '';
    const before = service.log.findIndex((line) => line.includes(id));
    // The first request of each connection, and as many that waited.
    assert.ok(before >= 0 && before < 400, `${before} of 1,000 requests came before it`);
    for (const socket of attackers) socket.destroy();
  });

  test('get their responses in order', async () => {
    await using service = await startService();
    using connection = await Connection.open(service);
    await connection.send(mixed(service).join('').repeat(12));
    for (let round = 1; round <= 12; round++) await assertMixed(connection, round);
  });

  for (const method of ['GET', 'HEAD']) {
    test(`beyond 100 that wait (${method}) get one 503 after the responses to the others, and have no effect`, async () => {
      await using service = await startService();
      using connection = await Connection.open(service);
      const small = `${method} /nowhere HTTP/1.1\r\nHost:\r\n\r\n`;
      const create = request('POST /book', [service.authorization], BODY);
      // In one read, or in two of which one has more than 100.
      await connection.send(small.repeat(1_000) + create);
      const isToHead = method === 'HEAD';
      let response = await connection.response(isToHead);
      let earlier = 0;
      for (; response.status === 404; earlier++) response = await connection.response(isToHead);
      assert.equal(response.status, 503);
      assert.equal(response.headers.get('retry-after'), '1');
      assert.equal(response.headers.get('connection'), 'close');
      assert.equal(await connection.rest(), '');
      assert.ok(earlier >= 101, `${earlier} responses before the 503`);
      const list = (await (await service.fetch('GET', '/books')).json()) as { data: unknown };
      assert.deepEqual(list.data, []);
    });
  }

  test('are all served when one read has no more than 100', async () => {
    await using service = await startService();
    using connection = await Connection.open(service);
    const body = `{}${' '.repeat(2_000)}`;
    const sent = connection.send(request('POST /book', [service.authorization], body).repeat(500));
    for (let id = 1; id <= 500; id++) {
      const book = assertSuccess(await connection.response(), 201, 'Book created successfully');
      assert.equal((book as { id: number }).id, id);
    }
    await sent;
  });

  test('get their responses before one 400 for malformed data after them', async () => {
    await using service = await startService();
    using connection = await Connection.open(service);
    await connection.send(mixed(service).join('') + MALFORMED + MALFORMED);
    await assertMixed(connection, 1);
    assertError(await connection.response(), 400, 'Bad request');
    assert.equal(await connection.rest(), '');
  });

  test('have no effect after malformed data', async () => {
    await using service = await startService();
    using connection = await Connection.open(service);
    await connection.send(MALFORMED + request('POST /book', [service.authorization], BODY));
    assertError(await connection.response(), 400, 'Bad request');
    assert.equal(await connection.rest(), '');
    using other = await Connection.open(service);
    await other.send(request('GET /books', [service.authorization]));
    assert.deepEqual(assertSuccess(await other.response(), 200, 'Books retrieved successfully'), []);
  });

  test('have no effect after a request whose rejection closes the connection', async () => {
    await using service = await startService();
    const create = request('POST /book', [service.authorization], BODY);
    for (const [refused, status] of [
      [request('GET /nowhere', ['Host: elsewhere']), 400],
      [`${request('POST /token', ['Transfer-Encoding: gzip, chunked'])}0\r\n\r\n`, 400],
      [request('GET /nowhere', ['Expect: something']), 417],
      [request('POST /token', ['Expect: 100-continue'], ' '.repeat(1_024 * 1_024 + 1)), 413],
    ] as const) {
      using connection = await Connection.open(service);
      await connection.send(refused + create + create);
      assert.equal((await connection.response()).status, status);
      assert.equal(await connection.rest(), '');
    }
    const list = (await (await service.fetch('GET', '/books')).json()) as { data: unknown };
    assert.deepEqual(list.data, []);
  });

  test('take effect in order', async () => {
    await using service = await startService();
    using connection = await Connection.open(service);
    const starts = [
      'POST /book',
      'PUT /book/1',
      'GET /book/1',
      'DELETE /book/1',
      'GET /book/1',
      'PUT /book/1',
    ];
    await connection.send(starts.map((start) => request(start, [service.authorization], BODY)).join(''));
    for (const status of [201, 200, 200, 200, 404, 404]) {
      assert.equal((await connection.response()).status, status);
    }
  });

  test('get their responses before the 400 for the malformed body of the last one', async () => {
    await using service = await startService();
    using connection = await Connection.open(service);
    const last = request('PUT /book/1', [service.authorization, 'Transfer-Encoding: chunked']);
    await connection.send(`${mixed(service).join('')}${last}two\r\n{}\r\n`);
    await assertMixed(connection, 1);
    assertError(await connection.response(), 400, 'Bad request');
    assert.equal(await connection.rest(), '');
  });

  test('get their responses before that to CONNECT', async () => {
    await using service = await startService();
    using connection = await Connection.open(service);
    await connection.send(mixed(service).join('') + request('CONNECT elsewhere:443'));
    await assertMixed(connection, 1);
    assertError(await connection.response(), 404, 'Not found');
    assert.equal(await connection.rest(), '');
  });

  test('get their responses before the 431 for too large headers', async () => {
    await using service = await startService();
    using connection = await Connection.open(service);
    await connection.send(mixed(service).join('') + request('GET /books', [`Name: ${'x'.repeat(20_000)}`]));
    await assertMixed(connection, 1);
    assertError(await connection.response(), 431, 'Request header fields too large');
    assert.equal(await connection.rest(), '');
  });
});

describe('A request gets one response', () => {
  test('also when its body turns out to be malformed after the response', async () => {
    await using service = await startService();
    for (const [start, status] of [
      ['POST /book', 401],
      ['GET /books', 401],
      ['PUT /nowhere', 404],
      ['DELETE /books', 405],
    ] as const) {
      using connection = await Connection.open(service);
      await connection.send(`${request(start, ['Transfer-Encoding: chunked'])}2\r\n{}\r\n`);
      assert.equal((await connection.response()).status, status);
      await connection.send('two\r\n{}\r\n');
      assert.equal(await connection.rest(), '');
    }
  });

  test('also when it has a malformed body and needs none', async () => {
    await using service = await startService();
    using connection = await Connection.open(service);
    await connection.send(
      `${request('GET /books', [service.authorization, 'Transfer-Encoding: chunked'])}two\r\n`,
    );
    assertSuccess(await connection.response(), 200, 'Books retrieved successfully');
    assert.equal(await connection.rest(), '');
  });

  test('and none after a request with Connection: close', async () => {
    await using service = await startService();
    for (const next of [MALFORMED, request('GET /books', [service.authorization])]) {
      using connection = await Connection.open(service);
      await connection.send(request('POST /token', ['Connection: close'], LOGIN) + next);
      assertSuccess(await connection.response(), 200, 'Token generated successfully');
      assert.equal(await connection.rest(), '');
    }
  });
});

describe('The last response on a connection', () => {
  for (const [what, bytes, status] of [
    ['after Connection: close', request('POST /token', ['Connection: close'], LOGIN), 200],
    ['in HTTP/1.0', 'GET /nowhere HTTP/1.0\r\n\r\n', 404],
    ['to a request with two Hosts', request('GET /nowhere', ['Host: elsewhere']), 400],
    ['to a client that waits for 100 Continue', request('POST /book', ['Expect: 100-continue'], BODY), 401],
    ['to a request with Upgrade', request('GET /nowhere', ['Upgrade: h2c']), 404],
    ['to malformed HTTP', MALFORMED, 400],
  ] as const) {
    test(`${what} reaches a client that keeps sending, as do the responses before it`, async () => {
      await using service = await startService();
      using connection = await Connection.open(service);
      await connection.send(request('POST /book', [service.authorization], BODY) + bytes);
      // Each time, the service has received the last one.
      const sendMore = async () => {
        for (let more = 0; more < 10; more++) {
          await connection.send(request('POST /book', [service.authorization], BODY));
          await nextTurn();
        }
      };
      await sendMore();
      assertSuccess(await connection.response(), 201, 'Book created successfully');
      await sendMore();
      assert.equal((await connection.response()).status, status);
      assert.equal(await connection.rest(), '');
      const list = (await (await service.fetch('GET', '/books')).json()) as { data: unknown[] };
      assert.equal(list.data.length, 1);
    });
  }

  test('to a too long body does not wait for the rest when the client has half-closed its connection', async () => {
    await using service = await startService();
    using ended = await Connection.open(service);
    using silent = await Connection.open(service);
    for (const connection of [silent, ended]) {
      await connection.send(request('POST /book', [service.authorization, 'Content-Length: 1048577']));
      assertError(await connection.response(), 413, 'Payload too large');
    }
    ended.finish();
    const first = Promise.race([silent.rest().then(() => 'silent'), ended.rest().then(() => 'ended')]);
    assert.equal(await first, 'ended');
  });
});

/** Requests whose responses take different times. */
function mixed({ authorization }: Service): string[] {
  return [
    request('POST /book', [authorization], BODY),
    request('GET /book/999', [authorization]),
    request('GET /nowhere'),
    request('PUT /book/999', [authorization], BODY),
    request('POST /token', [], LOGIN),
    request('GET /book/1'),
    request('HEAD /books', [authorization]),
    request('GET /books', [authorization]),
  ];
}

async function assertMixed(connection: Connection, round: number): Promise<void> {
  const book = assertSuccess(await connection.response(), 201, 'Book created successfully');
  assert.deepEqual(book, { id: round, title: TITLE, author: '', year: 0 });
  assertError(await connection.response(), 404, 'Book not found');
  assertError(await connection.response(), 404, 'Not found');
  assertError(await connection.response(), 404, 'Book not found');
  assertSuccess(await connection.response(), 200, 'Token generated successfully');
  assertError(await connection.response(), 401, 'Authorization token required');
  assert.equal((await connection.response(true)).status, 200);
  assertSuccess(await connection.response(), 200, 'Books retrieved successfully');
}
