import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertRefusal, assertSuccess } from './answers.ts';
import { type Answer, Connection, Cut, request } from './connection.ts';
import { parseLog } from './log.ts';
import { type Service, startService, TITLE } from './service.ts';

const LIMITS = { headersMs: 300, requestMs: 600, stallMs: 60_000, checkingIntervalMs: 50 };
const TRICKLE_MS = 20;

describe('408 Request timeout, once, and the connection ends:', () => {
  for (const [name, bytes, drop] of [
    ['a request line that trickles', 'GET /', 'x'],
    ['headers that trickle', 'GET /books HTTP/1.1\r\nHost: localhost\r\n', 'Name: value\r\n'],
  ] as const) {
    test(name, async () => {
      await using service = await startService({ httpLimits: LIMITS });
      await assertTimeout(service, bytes, drop);
    });
  }

  test('a body that trickles, by its length', async () => {
    await using service = await startService({ httpLimits: LIMITS });
    await assertTimeouts(service, 'Content-Length: 100000', 'x');
  });

  test('a body that trickles in chunks', async () => {
    await using service = await startService({ httpLimits: LIMITS });
    await assertTimeouts(service, 'Transfer-Encoding: chunked', '1\r\nx\r\n');
  });

  test('a body that stands still, for as long as a connection may, too', async () => {
    await using service = await startService({ httpLimits: { ...LIMITS, stallMs: LIMITS.requestMs } });
    await assertTimeouts(service, 'Content-Length: 100000', '');
  });

  test('a request that trickles behind one that was answered', async () => {
    await using service = await startService({ httpLimits: LIMITS });
    using connection = await Connection.open(service);
    await connection.send(`${request('GET /nowhere')}GET /books HTTP/1.1\r\n`);
    assertRefusal(await connection.answer(), 404, 'Not found');
    assertRefusal(await trickle(connection, 'Name: value\r\n'), 408, 'Request timeout');
    assert.equal(await connection.rest(), '');
  });
});

test('a body that trickles in time is read', async () => {
  await using service = await startService();
  using connection = await Connection.open(service);
  const body = JSON.stringify({ title: TITLE });
  await connection.send(request('POST /book', [service.authorization, `Content-Length: ${body.length}`]));
  for (const character of body) {
    await connection.send(character);
    await sleep(TRICKLE_MS);
  }
  assertSuccess(await connection.answer(), 201, 'Book created successfully');
});

test('a body that trickles on after its answer has gone ends with the connection, and no second answer', async () => {
  await using service = await startService({ httpLimits: LIMITS });
  using connection = await Connection.open(service);
  await connection.send(request('POST /book', ['Content-Length: 100000']));
  assertRefusal(await connection.answer(), 401, 'Authorization token required');
  await assert.rejects(trickle(connection, 'x'), Cut);
});

test('a request that is completed after its 408 has no effect', async () => {
  await using service = await startService({ httpLimits: LIMITS });
  using connection = await Connection.open(service);
  const bytes = request('POST /book', [service.authorization], '{}');
  await connection.send(bytes.slice(0, 60));
  assertRefusal(await connection.answer(), 408, 'Request timeout');
  await connection.send(bytes.slice(60));
  assert.equal(await connection.rest(), '');
  const list = (await (await service.fetch('GET', '/books')).json()) as { data: unknown };
  assert.deepEqual(list.data, []);
});

test('a client that does not read its answer is cut off', async () => {
  await using service = await startService({ httpLimits: { ...LIMITS, stallMs: 700 } });
  // More than the buffers of the system between the two can take.
  const body = JSON.stringify({ title: TITLE.repeat(90_000) });
  for (let index = 0; index < 30; index++) await service.fetch('POST', '/book', body);
  using connection = await Connection.open(service);
  await connection.send(request('GET /books', [service.authorization]));
  const line = () =>
    parseLog(service.log).find(({ msg }) => msg === 'the client did not take all of the answer');
  for (let wait = 0; wait < 20_000 && !line(); wait += TRICKLE_MS) await sleep(TRICKLE_MS);
  // Clients do such things: it is no defect of ours.
  assert.equal(line()?.level, 30);
  await assert.rejects(connection.answer(), Cut);
});

/** Asserts that every endpoint that reads a body refuses one that comes too slowly, in drops or not at all. */
async function assertTimeouts(service: Service, framing: string, drop: string): Promise<void> {
  // From here on the token is known, so that its check takes no time.
  await service.fetch('GET', '/books');
  const starts = ['POST /token', 'POST /book', 'PUT /book/1'];
  const heads = starts.map((start) => request(start, [service.authorization, framing]));
  await Promise.all(heads.map((head) => assertTimeout(service, head, drop)));
}

/** Asserts that a request is refused as too slow which begins with these bytes, and goes on in drops. */
async function assertTimeout(service: Service, bytes: string, drop: string): Promise<void> {
  using connection = await Connection.open(service);
  await connection.send(bytes);
  assertRefusal(await trickle(connection, drop), 408, 'Request timeout');
  assert.equal(await connection.rest(), '');
}

/** Sends drop after drop until an answer comes. */
async function trickle(connection: Connection, drop: string): Promise<Answer> {
  const over = new AbortController();
  const dripping = (async () => {
    for (; !over.signal.aborted; await sleep(TRICKLE_MS)) await connection.send(drop);
  })();
  try {
    return await connection.answer();
  } finally {
    over.abort();
    await dripping;
  }
}
