import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertError, assertSuccess } from '../../testkit/assertions.ts';
import { Connection, Cut, type RawResponse, request } from '../../testkit/connection.ts';
import { engines } from '../../testkit/engines.ts';
import { parseLog } from '../../testkit/log.ts';
import { createLongStore } from '../../testkit/long-books.ts';
import { type Service, startService, TITLE } from '../../testkit/service.ts';

const LIMITS = { headersMs: 300, requestMs: 600, stallMs: 60_000, checkingIntervalMs: 50 };
/** For requests that must arrive whole before one that does not: enough also on a machine that has stopped the process for a while. */
const LONGER_LIMITS = { ...LIMITS, headersMs: 3_000, requestMs: 3_000 };
const TRICKLE_MS = 20;

describe('One 408 Request timeout and the end of the connection follow', () => {
  for (const [name, bytes, drop] of [
    ['a slow request line', 'GET /', 'x'],
    ['slow headers', 'GET /books HTTP/1.1\r\nHost: localhost\r\n', 'Name: value\r\n'],
  ] as const) {
    test(name, async () => {
      await using service = await startService({ httpLimits: LIMITS });
      await assertTimeout(service, bytes, drop);
    });
  }

  test('a slow body with Content-Length', async () => {
    await using service = await startService({ httpLimits: LIMITS });
    await assertTimeouts(service, 'Content-Length: 10000', 'x');
  });

  test('a slow body in chunks', async () => {
    await using service = await startService({ httpLimits: LIMITS });
    await assertTimeouts(service, 'Transfer-Encoding: chunked', '1\r\nx\r\n');
  });

  test('a stalled body, also when the limits of requests and connections are equal', async () => {
    await using service = await startService({ httpLimits: { ...LIMITS, stallMs: LIMITS.requestMs } });
    await assertTimeouts(service, 'Content-Length: 10000', '');
  });

  test('a slow request after a completed one', async () => {
    await using service = await startService({ httpLimits: LONGER_LIMITS });
    using connection = await Connection.open(service);
    await connection.send(`${request('GET /nowhere')}GET /books HTTP/1.1\r\n`);
    assertError(await connection.response(), 404, 'Not found');
    assertError(await trickle(connection, 'Name: value\r\n'), 408, 'Request timeout');
    assert.equal(await connection.rest(), '');
  });
});

test('A slow body that arrives in time is read', async () => {
  await using service = await startService();
  using connection = await Connection.open(service);
  const body = JSON.stringify({ title: TITLE });
  await connection.send(request('POST /book', [service.authorization, `Content-Length: ${body.length}`]));
  for (const character of body) {
    await connection.send(character);
    await sleep(TRICKLE_MS);
  }
  assertSuccess(await connection.response(), 201, 'Book created successfully');
});

test('A body that is incomplete long after its response ends the connection without a second response', async () => {
  await using service = await startService({ httpLimits: LONGER_LIMITS });
  using connection = await Connection.open(service);
  await connection.send(request('POST /book', ['Content-Length: 10000']));
  assertError(await connection.response(), 401, 'Authorization token required');
  await assert.rejects(trickle(connection, 'x'), Cut);
});

test('A request that is completed after its 408 has no effect', async () => {
  await using service = await startService({ httpLimits: LIMITS });
  using connection = await Connection.open(service);
  const bytes = request('POST /book', [service.authorization], '{}');
  await connection.send(bytes.slice(0, 60));
  assertError(await connection.response(), 408, 'Request timeout');
  await connection.send(bytes.slice(60));
  assert.equal(await connection.rest(), '');
  assert.deepEqual(await list(service), []);
});

test('The connection of a client that does not read its response is closed', async () => {
  // More than the socket buffers can hold.
  await using address = await createLongStore(engines[0], 30);
  await using service = await startService({ dbUrl: address.dbUrl, httpLimits: { stallMs: 700 } });
  using connection = await Connection.open(service);
  await connection.send(request('GET /books', [service.authorization]));
  const line = () =>
    parseLog(service.log).find(({ msg }) => msg === 'the client did not read the whole response');
  for (let wait = 0; wait < 20_000 && !line(); wait += TRICKLE_MS) await sleep(TRICKLE_MS);
  assert.equal(line()?.level, 30);
  await assert.rejects(connection.response(), Cut);
});

/** The stored books. On a busy machine, the first requests for them may arrive too slowly, too. */
async function list(service: Service): Promise<unknown> {
  for (;;) {
    const response = await service.fetch('GET', '/books').catch(() => undefined);
    if (response?.status === 200) return ((await response.json()) as { data: unknown }).data;
  }
}

/** Asserts that every endpoint that reads a body responds 408 to one that arrives too slowly. */
async function assertTimeouts(service: Service, framing: string, drop: string): Promise<void> {
  // Afterwards the token is cached, so that its check takes no time.
  await list(service);
  const starts = ['POST /token', 'POST /book', 'PUT /book/1'];
  const heads = starts.map((start) => request(start, [service.authorization, framing]));
  await Promise.all(heads.map((head) => assertTimeout(service, head, drop)));
}

/** Asserts that a request that begins with these bytes and continues slowly gets 408. */
async function assertTimeout(service: Service, bytes: string, drop: string): Promise<void> {
  using connection = await Connection.open(service);
  await connection.send(bytes);
  assertError(await trickle(connection, drop), 408, 'Request timeout');
  assert.equal(await connection.rest(), '');
}

/** Sends the same bytes repeatedly until a response arrives. */
async function trickle(connection: Connection, drop: string): Promise<RawResponse> {
  const done = new AbortController();
  const sending = (async () => {
    for (; !done.signal.aborted; await sleep(TRICKLE_MS)) await connection.send(drop);
  })();
  try {
    return await connection.response();
  } finally {
    done.abort();
    await sending;
  }
}
