import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { makeToken } from '../../conformance/tokens.ts';
import type { BookStore } from '../../src/book/book-store.ts';
import { LOGIN_BYTES_MAX } from '../../src/http/body-limits.ts';
import { assertError, assertSuccess } from '../../testkit/assertions.ts';
import { Connection, Cut, type RawResponse, request } from '../../testkit/connection.ts';
import { engines } from '../../testkit/engines.ts';
import { parseLog } from '../../testkit/log.ts';
import { createLongStore } from '../../testkit/long-books.ts';
import { scrape } from '../../testkit/scrape.ts';
import { LOGIN, SECRET, type Service, startService, startServiceOn, TITLE } from '../../testkit/service.ts';

const MEBIBYTE = 1_024 * 1_024;

/** A book whose JSON has this many bytes, most of them of an unknown field. */
function bookOf(bytes: number): string {
  return JSON.stringify({ title: TITLE, unknown: 'x'.repeat(bytes) });
}

function assertUnavailable(response: RawResponse): void {
  assertError(response, 503, 'Service unavailable');
  assert.equal(response.headers.get('retry-after'), '1');
}

describe('Connections beyond the limit', () => {
  test('get 503 and are closed, whether or not they send a request, which has no effect', async () => {
    await using service = await startService({ httpLimits: { connections: 2 } });
    using one = await Connection.open(service);
    using _ = await Connection.open(service);
    await one.send(request('GET /nowhere'));
    await one.response();
    for (const bytes of ['', request('POST /book', [service.authorization], '{}')]) {
      using another = await Connection.open(service);
      const sent = another.send(bytes);
      const response = await another.response();
      assertUnavailable(response);
      assert.equal(response.headers.get('connection'), 'close');
      assert.equal(await another.rest(), '');
      await sent;
    }
    await one.send(request('GET /books', [service.authorization]));
    assert.deepEqual(assertSuccess(await one.response(), 200, 'Books retrieved successfully'), []);
  });

  test('are accepted when others have been closed', async () => {
    await using service = await startService({ httpLimits: { connections: 1 } });
    {
      using connection = await Connection.open(service);
      await connection.send(request('GET /nowhere', ['Connection: close']));
      await connection.rest();
    }
    assert.equal((await service.fetch('GET', '/books')).status, 200);
  });
});

describe('Long bodies beyond the memory limit', () => {
  const limits = { httpLimits: { bodyBytesAtOnce: MEBIBYTE, loginBytesAtOnce: LOGIN_BYTES_MAX } };

  for (const [start, status] of [
    ['POST /token', 200],
    ['POST /book', 201],
    ['PUT /book/1', 200],
  ] as const) {
    test(`${start} gets 503 with Retry-After and keeps its connection, and succeeds when memory is free`, async () => {
      await using service = await startService(limits);
      await service.fetch('POST', '/book', '{}');
      using holder = await beginLongBody(service, start === 'POST /token' ? 'POST /token' : 'POST /book');
      using connection = await Connection.open(service);
      const body = start === 'POST /token' ? LOGIN.padEnd(10_000) : '{}'.padEnd(700_000);
      await connection.send(request(start, [service.authorization], body));
      assertUnavailable(await connection.response());

      // Short bodies are always read.
      await connection.send(request('POST /token', [], LOGIN));
      assertSuccess(await connection.response(), 200, 'Token generated successfully');

      holder.reset();
      await becomes(status, () => service.fetch(...(start.split(' ') as [string, string]), body));
    });
  }

  test('of logins leave those behind a token their memory, also while strangers fill that of logins', async () => {
    await using service = await startService(limits);
    using _ = await beginLongBody(service, 'POST /token');
    assert.equal((await service.fetch('POST', '/book', bookOf(700_000))).status, 201);
  });

  test('release their memory after any response', async () => {
    await using service = await startService(limits);
    using connection = await Connection.open(service);
    for (const [start, body, status] of [
      ['POST /book', bookOf(700_000), 201],
      ['POST /book', ' '.repeat(700_000), 400],
      ['POST /token', ' '.repeat(10_000), 400],
      ['PUT /book/999', bookOf(700_000), 404],
    ] as const) {
      for (let round = 0; round < 3; round++) {
        await connection.send(request(start, [service.authorization], body));
        assert.equal((await connection.response()).status, status);
      }
    }
  });

  test('need no more memory in chunks of one byte', async () => {
    await using service = await startService(limits);
    using connection = await Connection.open(service);
    const body = bookOf(20_000);
    const chunks = body.replaceAll(/./gs, '1\r\n$&\r\n');
    await connection.send(
      `${request('POST /book', [service.authorization, 'Transfer-Encoding: chunked'])}${chunks}0\r\n\r\n`,
    );
    const book = assertSuccess(await connection.response(), 201, 'Book created successfully') as {
      title: string;
    };
    assert.equal(book.title, TITLE);
  });
});

describe('Unread responses', () => {
  test('cause 503 for further lists while the memory is exhausted', async () => {
    // More than the socket buffers can hold. A list keeps the memory of two pages of 128 KiB.
    await using address = await createLongStore(engines[0], 20);
    const httpLimits = { unreadBytesAtOnce: 300 * 1_024, stallMs: 300_000 };
    await using service = await startService({ dbUrl: address.dbUrl, httpLimits });
    const short = (await (await service.fetch('POST', '/book', '{}')).json()) as { data: { id: number } };
    using stalled = await Connection.open(service);
    await stalled.send(request('GET /books', [service.authorization]));
    await stalled.beginning();
    const response = await service.fetch('GET', '/books');
    assert.equal(response.status, 503);
    assert.equal(response.headers.get('retry-after'), '1');
    assert.equal((await service.fetch('GET', `/book/${short.data.id}`)).status, 200);

    stalled.reset();
    await becomes(200, () => service.fetch('GET', '/books'));
  });

  test('close their connection, also when the client keeps sending', async () => {
    await using address = await createLongStore(engines[0], 20);
    await using service = await startService({ dbUrl: address.dbUrl, httpLimits: { stallMs: 700 } });
    using connection = await Connection.open(service);
    await connection.send(request('GET /books', [service.authorization]));
    for (let wait = 0; wait < 20_000 && !connection.isBroken; wait += 50) {
      await connection.send('\r\n');
      await sleep(50);
    }
    await assert.rejects(connection.response(), Cut);
  });
});

describe('Bodies in chunks of one byte', () => {
  for (const [what, requests, count] of [
    ['that are not read while the response is pending', ['GET /book/1'], 60_000],
    ['of requests that wait', ['GET /book/1', 'POST /token'], 10_000],
  ] as const) {
    test(`${what} take little memory`, async () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      const find: BookStore['find'] = () => promise;
      await using service = await startServiceOn({ find } as BookStore);
      using stack = new DisposableStack();
      stack.defer(() => resolve(undefined));
      const before = usedBytes();
      for (let sent = 0; sent < 300_000; sent += count) {
        const connection = stack.use(await Connection.open(service));
        const lines = [service.authorization, 'Transfer-Encoding: chunked'];
        for (const start of requests)
          await connection.send(request(start, start === requests.at(-1) ? lines : lines.slice(0, 1)));
        await connection.send('1\r\n \r\n'.repeat(count));
      }
      await sleep(1_000);
      const more = usedBytes() - before;
      assert.ok(more < 16 * MEBIBYTE, `${more} bytes`);
    });
  }
});

describe('A client that disconnects while its token is verified for the first time', () => {
  test('leaves no running search', async () => {
    await using service = await startService();
    for (let number = 0; number < 300; number++) {
      using connection = await Connection.open(service);
      const token = makeToken(SECRET, { payload: { number } });
      await connection.send(request('GET /books?limit=1', [`Authorization: ${token}`]));
      connection.reset();
    }
    let underWay: number | undefined;
    for (let attempt = 0; attempt < 2_000 && underWay !== 0; attempt++) {
      await sleep(20);
      underWay = (await scrape(service.url)).get('bookkeeping_searches')?.samples[0]?.value;
    }
    assert.equal(underWay, 0);
    assert.deepEqual(
      parseLog(service.log).filter(({ level }) => level > 30),
      [],
    );
  });
});

/** A connection with an incomplete long body, which has reserved more than half of the memory. */
async function beginLongBody(service: Service, start: 'POST /token' | 'POST /book'): Promise<Connection> {
  const [method = '', path = ''] = start.split(' ');
  for (;;) {
    const connection = await Connection.open(service);
    const length = start === 'POST /token' ? LOGIN_BYTES_MAX : MEBIBYTE;
    await connection.send(request(start, [service.authorization, `Content-Length: ${length}`]));
    await connection.send(' '.repeat(length - 1));
    await sleep(100);
    const { status } = await service.fetch(method, path, ' '.repeat(0.6 * length));
    if (status === 503) return connection;
    // It had not been read yet when the other request was processed.
    connection.reset();
  }
}

/** The memory of objects that are in use. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

/** Repeats a request until its response has this status. */
async function becomes(status: number, ask: () => Promise<Response>): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt++) {
    const response = await ask();
    await response.arrayBuffer();
    if (response.status === status) return;
    await sleep(20);
  }
  assert.fail(`no response with ${status}`);
}
