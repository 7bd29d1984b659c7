import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertRefusal, assertSuccess } from './answers.ts';
import { Connection, request } from './connection.ts';
import { LOGIN, type Service, startService, TITLE } from './service.ts';

const BODY = JSON.stringify({ title: TITLE });
const GARBAGE = 'good morning\r\n\r\n';

describe('Requests that do not wait for the answers before them', () => {
  test('are answered in their order, whatever takes longer', async () => {
    await using service = await startService();
    using connection = await Connection.open(service);
    await connection.send(mixed(service).join('').repeat(20));
    for (let round = 1; round <= 20; round++) await assertMixed(connection, round);
  });

  test('are answered before the garbage that follows them, which is refused once', async () => {
    await using service = await startService();
    using connection = await Connection.open(service);
    await connection.send(mixed(service).join('') + GARBAGE + GARBAGE);
    await assertMixed(connection, 1);
    assertRefusal(await connection.answer(), 400, 'Bad request');
    assert.equal(await connection.rest(), '');
  });

  test('have no effect behind garbage', async () => {
    await using service = await startService();
    using connection = await Connection.open(service);
    await connection.send(GARBAGE + request('POST /book', [service.authorization], BODY));
    assertRefusal(await connection.answer(), 400, 'Bad request');
    assert.equal(await connection.rest(), '');
    using other = await Connection.open(service);
    await other.send(request('GET /books', [service.authorization]));
    assert.deepEqual(assertSuccess(await other.answer(), 200, 'Books retrieved successfully'), []);
  });

  test('have no effect behind a request that is refused, and ends the connection', async () => {
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
      assert.equal((await connection.answer()).status, status);
      assert.equal(await connection.rest(), '');
    }
    const list = (await (await service.fetch('GET', '/books')).json()) as { data: unknown };
    assert.deepEqual(list.data, []);
  });

  test('take effect in their order', async () => {
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
      assert.equal((await connection.answer()).status, status);
    }
  });

  test('are answered before the malformed body of the last one', async () => {
    await using service = await startService();
    using connection = await Connection.open(service);
    const last = request('PUT /book/1', [service.authorization, 'Transfer-Encoding: chunked']);
    await connection.send(`${mixed(service).join('')}${last}two\r\n{}\r\n`);
    await assertMixed(connection, 1);
    assertRefusal(await connection.answer(), 400, 'Bad request');
    assert.equal(await connection.rest(), '');
  });

  test('are answered before a CONNECT that follows them', async () => {
    await using service = await startService();
    using connection = await Connection.open(service);
    await connection.send(mixed(service).join('') + request('CONNECT elsewhere:443'));
    await assertMixed(connection, 1);
    assertRefusal(await connection.answer(), 404, 'Not found');
    assert.equal(await connection.rest(), '');
  });

  test('are answered before headers that are too large', async () => {
    await using service = await startService();
    using connection = await Connection.open(service);
    await connection.send(mixed(service).join('') + request('GET /books', [`Name: ${'x'.repeat(20_000)}`]));
    await assertMixed(connection, 1);
    assertRefusal(await connection.answer(), 431, 'Request header fields too large');
    assert.equal(await connection.rest(), '');
  });
});

describe('One request has one answer', () => {
  test('also when its body turns out to be malformed after the answer has gone', async () => {
    await using service = await startService();
    for (const [start, status] of [
      ['POST /book', 401],
      ['GET /books', 401],
      ['PUT /nowhere', 404],
      ['DELETE /books', 405],
    ] as const) {
      using connection = await Connection.open(service);
      await connection.send(`${request(start, ['Transfer-Encoding: chunked'])}2\r\n{}\r\n`);
      assert.equal((await connection.answer()).status, status);
      await connection.send('two\r\n{}\r\n');
      assert.equal(await connection.rest(), '');
    }
  });

  test('also when a body comes malformed with a request that needs none', async () => {
    await using service = await startService();
    using connection = await Connection.open(service);
    await connection.send(
      `${request('GET /books', [service.authorization, 'Transfer-Encoding: chunked'])}two\r\n`,
    );
    assertSuccess(await connection.answer(), 200, 'Books retrieved successfully');
    assert.equal(await connection.rest(), '');
  });

  test('and what follows a request that closes the connection has none', async () => {
    await using service = await startService();
    for (const next of [GARBAGE, request('GET /books', [service.authorization])]) {
      using connection = await Connection.open(service);
      await connection.send(request('POST /token', ['Connection: close'], LOGIN) + next);
      assertSuccess(await connection.answer(), 200, 'Token generated successfully');
      assert.equal(await connection.rest(), '');
    }
  });
});

describe('The last answer of a connection', () => {
  for (const [what, bytes, status] of [
    ['that the client wants to be the last', request('POST /token', ['Connection: close'], LOGIN), 200],
    ['in HTTP/1.0', 'GET /nowhere HTTP/1.0\r\n\r\n', 404],
    ['to a request that is refused', request('GET /nowhere', ['Host: elsewhere']), 400],
    ['to a client that waits for a 100', request('POST /book', ['Expect: 100-continue'], BODY), 401],
    ['to a client that wants another protocol', request('GET /nowhere', ['Upgrade: h2c']), 404],
    ['to malformed HTTP', GARBAGE, 400],
  ] as const) {
    test(`${what} gets to a client that goes on sending, and so do those before it`, async () => {
      await using service = await startService();
      using connection = await Connection.open(service);
      await connection.send(request('POST /book', [service.authorization], BODY) + bytes);
      for (let more = 0; more < 20; more++) {
        await connection.send(request('POST /book', [service.authorization], BODY));
        await sleep(10);
      }
      assertSuccess(await connection.answer(), 201, 'Book created successfully');
      assert.equal((await connection.answer()).status, status);
      assert.equal(await connection.rest(), '');
      const list = (await (await service.fetch('GET', '/books')).json()) as { data: unknown[] };
      assert.equal(list.data.length, 1);
    });
  }

  test('to a body that is too long does not wait for the rest of one that has ended', async () => {
    await using service = await startService();
    using ended = await Connection.open(service);
    using silent = await Connection.open(service);
    for (const connection of [silent, ended]) {
      await connection.send(request('POST /book', [service.authorization, 'Content-Length: 1048577']));
      assertRefusal(await connection.answer(), 413, 'Payload too large');
    }
    ended.finish();
    const first = Promise.race([silent.rest().then(() => 'silent'), ended.rest().then(() => 'ended')]);
    assert.equal(await first, 'ended');
  });
});

/** Requests whose answers take a different time each. */
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
  const book = assertSuccess(await connection.answer(), 201, 'Book created successfully');
  assert.deepEqual(book, { id: round, title: TITLE, author: '', year: 0 });
  assertRefusal(await connection.answer(), 404, 'Book not found');
  assertRefusal(await connection.answer(), 404, 'Not found');
  assertRefusal(await connection.answer(), 404, 'Book not found');
  assertSuccess(await connection.answer(), 200, 'Token generated successfully');
  assertRefusal(await connection.answer(), 401, 'Authorization token required');
  assert.equal((await connection.answer(true)).status, 200);
  assertSuccess(await connection.answer(), 200, 'Books retrieved successfully');
}
