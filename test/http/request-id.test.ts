import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { REQUEST_ID } from '../../testkit/assertions.ts';
import { Connection, request } from '../../testkit/connection.ts';
import { type LogLine, parseLog } from '../../testkit/log.ts';
import { LOGIN, type Service, startService, TITLE, WRONG_LOGIN } from '../../testkit/service.ts';

const BOOK = JSON.stringify({ title: TITLE });

/** A request for each kind of response: its beginning, header lines and body. */
const REQUESTS: readonly (readonly [
  status: number,
  start: string,
  lines?: readonly string[],
  body?: string,
])[] = [
  [200, 'POST /token', [], LOGIN],
  [400, 'POST /token', [], '{'],
  [401, 'POST /token', [], WRONG_LOGIN],
  [201, 'POST /book', [], BOOK],
  [201, 'POST /books', [], `[${BOOK}]`],
  [200, 'GET /books'],
  [200, 'GET /books?q=titus'],
  [400, 'GET /books?limit=x'],
  [200, 'HEAD /book/1'],
  [304, 'GET /book/1', ['If-None-Match: *']],
  [412, 'PUT /book/1', ['If-None-Match: *'], BOOK],
  [404, 'DELETE /book/7'],
  [404, 'GET /nowhere'],
  [405, 'PATCH /book/1'],
  [204, 'OPTIONS /books', ['Origin: https://a.example', 'Access-Control-Request-Method: GET']],
  [401, 'GET /books', ['Authorization: nonsense']],
  [200, 'GET /openapi.json'],
  [200, 'GET /docs'],
  [417, 'GET /books', ['Expect: miracles']],
  [413, 'POST /book', [], 'x'.repeat(1_048_577)],
  [405, 'CONNECT /books'],
  [404, 'CONNECT /nowhere'],
];

describe('X-Request-Id', { timeout: 300_000 }, () => {
  test('of a client is in every response and its log line', async () => {
    await using service = await startService({ corsOrigins: ['https://a.example'] });
    for (const [index, [status, start, lines = [], body]] of REQUESTS.entries()) {
      const id = `Root=1-67891233/${index}:a+b@c_~.d`;
      const response = await ask(service, start, [...lines, `X-Request-ID: ${id}`], body);
      assert.equal(response.status, status, start);
      assert.equal(response.headers.get('x-request-id'), id, start);
      assert.equal((await lineOf(service, id)).status, status, start);
    }
  });

  test('is generated for every request without one', async () => {
    await using service = await startService({ corsOrigins: ['https://a.example'] });
    const ids = new Set<string>();
    for (const [status, start, lines, body] of REQUESTS) {
      const response = await ask(service, start, lines, body);
      const id = response.headers.get('x-request-id') ?? '';
      assert.match(id, REQUEST_ID, start);
      assert.equal((await lineOf(service, id)).status, status, start);
      ids.add(id);
    }
    assert.equal(ids.size, REQUESTS.length);
  });

  test('is generated for malformed requests and too large headers', async () => {
    await using service = await startService();
    for (const [status, bytes] of [
      [400, 'nonsense\r\n\r\n'],
      [400, 'GET /books HTTP/1.1\r\n\r\n'],
      [431, request('GET /books', [`X-Note: ${'x'.repeat(20_000)}`])],
    ] as const) {
      using connection = await Connection.open(service);
      await connection.send(bytes);
      const response = await connection.response();
      assert.equal(response.status, status);
      assert.equal((await lineOf(service, response.headers.get('x-request-id') ?? '')).status, status);
    }
  });

  for (const [what, lines] of [
    ['is empty', ['X-Request-Id:']],
    ['is longer than 128 characters', [`X-Request-Id: ${'x'.repeat(129)}`]],
    ['is repeated', ['X-Request-Id: a', 'X-Request-Id: a']],
    ['has a space', ['X-Request-Id: a b']],
    ['has a quote', ['X-Request-Id: a","level":"60']],
    ['has a backslash', [String.raw`X-Request-Id: a\n`]],
    ['is not in ASCII', ['X-Request-Id: é']],
    ['begins like a token', ['X-Request-Id: eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjF9.c2lnbmF0dXJl']],
  ] as const) {
    test(`of a client is ignored when it ${what}`, async () => {
      await using service = await startService();
      const response = await ask(service, 'GET /books', lines);
      assert.match(response.headers.get('x-request-id') ?? '', REQUEST_ID);
    });
  }

  test('of a client may have 128 characters', async () => {
    await using service = await startService();
    const id = 'x'.repeat(128);
    const response = await ask(service, 'GET /books', [`X-Request-Id: ${id}`]);
    assert.equal(response.headers.get('x-request-id'), id);
  });
});

async function ask(service: Service, start: string, lines: readonly string[] = [], body = '') {
  // Some responses are not described in /openapi.json.
  using connection = await Connection.open({ port: service.port });
  const token = lines.some((line) => line.startsWith('Authorization')) ? [] : [service.authorization];
  await connection.send(request(start, [...token, ...lines], body));
  return await connection.response(start.startsWith('HEAD'));
}

/** The log line of a request, which may be written after its response. */
async function lineOf(service: Service, id: string): Promise<LogLine> {
  for (;;) {
    const line = parseLog(service.log).find((each) => each.id === id);
    if (line) return line;
    await sleep(5);
  }
}
