import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Connection, request } from '../../testkit/connection.ts';
import { assertNothingConfidentialInLog, parseLog } from '../../testkit/log.ts';
import { LOGIN, startService, TITLE, WRONG_LOGIN } from '../../testkit/service.ts';
import { readText } from '../project/files.ts';

// Each test of this folder asserts that its log contains nothing confidential. These tests cover what a log contains.

test('A request is one log line with its method, route and status', async () => {
  await using service = await startService();
  using connection = await Connection.open(service);
  for (const [start, body] of [
    ['POST /token', LOGIN],
    ['POST /token', WRONG_LOGIN],
    [`POST /book?${TITLE.replace(' ', '+')}`, JSON.stringify({ title: TITLE })],
    [`GET /book/${encodeURIComponent(TITLE)}`, ''],
    [`GET /${encodeURIComponent(TITLE)}`, ''],
  ] as const) {
    await connection.send(request(start, [service.authorization, `X-Note: ${TITLE}`], body));
    await connection.response();
  }
  const requests = service.log.map((line) => JSON.parse(line)).filter(({ method }) => method);
  assert.deepEqual(
    requests.map(({ method, route, status }) => [method, route, status]),
    [
      ['POST', '/token', 200],
      ['POST', '/token', 401],
      ['POST', '/book', 201],
      ['GET', '/book/:id', 404],
      ['GET', null, 404],
    ],
  );
});

for (const [logLevel, statuses] of [
  ['trace', [200, 500, 401, 429]],
  ['info', [200, 500, 401, 429]],
  ['warn', [500, 401, 429]],
  ['error', [500]],
  ['fatal', []],
  ['silent', []],
] as const) {
  test(`With LOG_LEVEL=${logLevel} the log has the statuses ${statuses.join(', ') || '(none)'}`, async () => {
    const httpLimits = { failedLogins: 1 };
    await using service = await startService({ logLevel, httpLimits, secret: '' });
    await service.fetch('GET', '/docs').catch(() => {});
    await service.fetch('POST', '/token', LOGIN);
    await service.fetch('POST', '/token', WRONG_LOGIN);
    await service.fetch('POST', '/token', WRONG_LOGIN);
    const lines = parseLog(service.log);
    const requests = lines.filter(({ status }) => status !== undefined);
    assert.deepEqual(
      requests.map(({ status }) => status),
      statuses,
    );
    if (logLevel === 'silent' || logLevel === 'fatal') assert.deepEqual(lines, []);
  });
}

describe('A failed login is logged with the address of its client', () => {
  const httpLimits = { failedLogins: 1 };
  /** fail2ban replaces `<ADDR>` by an expression for addresses. */
  const [, failregex = ''] =
    /^failregex = (.*)$/m.exec(readText('deploy/fail2ban/filter.d/bookkeeping.conf')) ?? [];
  const filter = new RegExp(failregex.replace('<ADDR>', '(?<client>[0-9a-f:.]+)'));

  for (const [trustProxy, forwarded, clients] of [
    [false, '203.0.113.1', ['127.0.0.1', '127.0.0.1']],
    [1, '198.51.100.1, 203.0.113.1', ['203.0.113.1', '203.0.113.1']],
    [true, '203.0.113.1:4711', ['203.0.113.1', '203.0.113.1']],
    [true, '[2001:db8::7]:4711', ['2001:db8::7', '2001:db8::7']],
    [true, '","client":"203.0.113.1', [undefined, undefined]],
  ] as const) {
    test(`from X-Forwarded-For: ${forwarded}, with TRUST_PROXY ${trustProxy}`, async () => {
      await using service = await startService({ httpLimits, trustProxy });
      using connection = await Connection.open({ port: service.port, localAddress: '127.0.0.1' });
      for (const body of [LOGIN, WRONG_LOGIN, LOGIN]) {
        await connection.send(request('POST /token', [`X-Forwarded-For: ${forwarded}`], body));
        await connection.response();
      }
      const lines = service.log.filter((line) => line.includes('"route":"/token"'));
      const logged = parseLog(lines).map(({ level, status, client }) => [level, status, client]);
      assert.deepEqual(logged, [
        [30, 200, undefined],
        [40, 401, clients[0]],
        [40, 429, clients[1]],
      ]);
      const matched = lines.map((line) => filter.exec(line)?.groups?.client);
      assert.deepEqual(matched, [undefined, ...clients]);
    });
  }
});

test('The log has no data of malformed HTTP', async () => {
  await using service = await startService();
  for (const bytes of [
    `${TITLE}\r\n\r\n`,
    `GET /${TITLE} HTTP/1.1\r\n\r\n`,
    request('GET /books', [TITLE]),
  ]) {
    using connection = await Connection.open(service);
    await connection.send(bytes);
    await connection.response();
  }
});

test('The assertion about logs detects confidential data and unknown keys', () => {
  const token = 'eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjF9.c2lnbmF0dXJl';
  const line = { level: 30, time: 1, method: 'GET', route: '/books', status: 200, ms: 1 };
  assertNothingConfidentialInLog([JSON.stringify(line)], [TITLE]);
  for (const bad of [
    { ...line, msg: TITLE },
    { ...line, msg: `cannot verify ${token}` },
    { ...line, body: '{}' },
    { ...line, err: { type: 'Error', message: '', stack: '', query: '' } },
  ]) {
    assert.throws(() => assertNothingConfidentialInLog([JSON.stringify(bad)], [TITLE]));
  }
});
