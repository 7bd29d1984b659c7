import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { describe, test } from 'node:test';
import { assertError, assertSuccess } from '../../testkit/assertions.ts';
import { Connection, request } from '../../testkit/connection.ts';
import { parseLog } from '../../testkit/log.ts';
import { shareService, startService } from '../../testkit/service.ts';

describe('Unsupported methods', () => {
  const sharedService = shareService();

  for (const method of ['TRACE', 'QUERY', 'OPTIONS', 'PROPFIND', 'M-SEARCH']) {
    test(`${method} gets 405 on an existing path and 404 on any other`, async () => {
      const service = await sharedService();
      using connection = await Connection.open(service);
      await connection.send(request(`${method} /books`) + request(`${method} /nowhere`));
      const response = await connection.response();
      assertError(response, 405, 'Method not allowed');
      assert.equal(response.headers.get('allow'), 'POST, PATCH, GET, HEAD');
      assertError(await connection.response(), 404, 'Not found');
    });
  }

  test('CONNECT gets 405 or 404 and opens no tunnel, and the connection is closed', async () => {
    const service = await sharedService();
    for (const [target, status, message] of [
      ['elsewhere:443', 404, 'Not found'],
      ['/nowhere', 404, 'Not found'],
      ['/books', 405, 'Method not allowed'],
    ] as const) {
      using connection = await Connection.open(service);
      await connection.send(`${request(`CONNECT ${target}`)}through the tunnel`);
      const response = await connection.response();
      assertError(response, status, message);
      assert.equal(response.headers.get('allow'), status === 405 ? 'POST, PATCH, GET, HEAD' : null);
      assert.equal(await connection.rest(), '');
    }
  });

  test('the service keeps running when a client resets its connection after CONNECT', async () => {
    const service = await sharedService();
    for (let round = 0; round < 10; round++) {
      using connection = await Connection.open(service);
      await connection.send(request('CONNECT elsewhere:443'));
      if (round % 2) await connection.response();
      connection.reset();
    }
    assert.equal((await service.fetch('GET', '/books')).status, 200);
  });
});

test('No method, protocol or target gets a 5xx, or a warning in the log', async () => {
  await using service = await startService();
  for (const method of [...METHODS, ...RTSP_METHODS, 'PRI', 'FETCH']) {
    for (const protocol of ['HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'RTSP/1.0', 'ICE/1.0']) {
      for (const target of ['/books', '/music', '*', 'rtsp://localhost/music', '/book/%zz']) {
        using connection = await Connection.open(service);
        await connection.send(`${method} ${target} ${protocol}\r\nHost: localhost\r\n\r\n`);
        const { status } = await connection.response(method === 'HEAD');
        assert.ok(status >= 400 && status < 500, `${method} ${target} ${protocol}: ${status}`);
      }
    }
  }
  assert.deepEqual(
    parseLog(service.log).filter(({ level }) => level > 30),
    [],
  );
});

/** Methods that the parser accepts besides those of `node:http` (RFC 2326, section 10). */
const RTSP_METHODS = [
  'ANNOUNCE',
  'DESCRIBE',
  'FLUSH',
  'GET_PARAMETER',
  'PAUSE',
  'PLAY',
  'RECORD',
  'REDIRECT',
  'SET_PARAMETER',
  'SETUP',
  'TEARDOWN',
];

/** What decodes to a path of the service, in origin form and in absolute form. */
const SPELLINGS = [
  '/%62ooks',
  '/%6detrics',
  '/m%65trics?x=1',
  'http://localhost/%6Detrics',
  '/%72eadyz',
  '/%68ealthz',
  '/%64ocs',
  '/docs%2Fpage.js',
  '/docs/%70age.js',
  '/%63onsole/',
  '/console/%66eatures.json',
  '/console%2f',
  '/openapi%2ejson',
  '/%74oken',
  '/%2562ooks',
];

describe('Request targets', () => {
  const sharedService = shareService();

  test('a target in absolute form is routed by its path, whatever the authority', async () => {
    const service = await sharedService();
    using connection = await Connection.open(service);
    for (const target of [
      'http://localhost/books',
      'HTTP://elsewhere:1/books?page=2',
      'https://[::1]/books',
    ]) {
      await connection.send(request(`GET ${target}`, [service.authorization]));
      assert.deepEqual(assertSuccess(await connection.response(), 200, 'Books retrieved successfully'), []);
    }
  });

  for (const target of [
    '*',
    'http://localhost',
    'http://localhost?/books',
    'ftp://localhost/books',
    '/books#fragment',
    '/#/books',
    '/books;page=2',
    '/books%2f',
    '/%',
    '/%00',
    '/%zz/../books',
    '/./books',
    '/book/?id=1',
    `/${'x'.repeat(10_000)}`,
    `/book/1/${'/'.repeat(10_000)}`,
  ]) {
    test(`${target.slice(0, 40)} gets 404 Not found without a token`, async () => {
      const service = await sharedService();
      using connection = await Connection.open(service);
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
        await connection.send(request(`${method} ${target}`));
        assertError(await connection.response(), 404, 'Not found');
      }
    });
  }

  for (const target of SPELLINGS) {
    test(`${target} is another path than the one that it decodes to, for every method`, async () => {
      const service = await sharedService();
      using connection = await Connection.open(service);
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        await connection.send(request(`${method} ${target}`, [service.authorization]));
        assertError(await connection.response(), 404, 'Not found');
      }
    });
  }

  test('an id with an escape is none: 404 Book not found after the token, 405 for other methods', async () => {
    const service = await sharedService();
    const { data } = (await (await service.fetch('POST', '/book', '{}')).json()) as { data: { id: number } };
    const escaped = String(data.id).replaceAll(/[0-9]/g, '%3$&');
    using connection = await Connection.open(service);
    for (const id of [escaped, `${data.id}%20`, `%2500${data.id}`, '%zz', '%']) {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        await connection.send(request(`${method} /book/${id}`));
        assertError(await connection.response(), 401, 'Authorization token required');
        await connection.send(request(`${method} /book/${id}`, [service.authorization], '{}'));
        assertError(await connection.response(), 404, 'Book not found');
      }
      await connection.send(request(`PATCH /book/${id}`));
      assertError(await connection.response(), 405, 'Method not allowed');
    }
    assert.equal((await service.fetch('GET', `/book/${data.id}`)).status, 200);
  });
});

describe('Upgrade, Authorization and HTTP/1.0', () => {
  const sharedService = shareService();

  test('Upgrade is ignored', async () => {
    const service = await sharedService();
    for (const protocol of ['websocket', 'h2c', 'TLS/1.3']) {
      using connection = await Connection.open(service);
      const lines = [service.authorization, 'Connection: Upgrade', `Upgrade: ${protocol}`];
      await connection.send(request('POST /book', lines, '{}'));
      assertSuccess(await connection.response(), 201, 'Book created successfully');
    }
  });

  test('a request after an ignored Upgrade gets a response, or the connection is closed', async () => {
    const service = await sharedService();
    using connection = await Connection.open(service);
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket'];
    await connection.send(request('GET /nowhere', upgrade) + request('GET /nowhere', ['Connection: close']));
    assertError(await connection.response(), 404, 'Not found');
    await connection.rest();
  });

  test('two Authorization headers get 401', async () => {
    const service = await sharedService();
    using connection = await Connection.open(service);
    const { authorization } = service;
    for (const lines of [
      [authorization, authorization],
      [authorization, 'Authorization: x'],
      ['Authorization: x', authorization],
    ]) {
      await connection.send(request('GET /books', lines));
      assertError(await connection.response(), 401, 'Invalid token');
    }
  });

  test('a token in a trailer is ignored', async () => {
    const service = await sharedService();
    using connection = await Connection.open(service);
    await connection.send(
      `${request('POST /book', ['Transfer-Encoding: chunked', 'Trailer: Authorization'])}2\r\n{}\r\n0\r\n${service.authorization}\r\n\r\n`,
    );
    assertError(await connection.response(), 401, 'Authorization token required');
  });

  test('a request in HTTP/1.0 gets a response, and the connection is closed', async () => {
    const service = await sharedService();
    using connection = await Connection.open(service);
    await connection.send(`GET /books HTTP/1.0\r\n${service.authorization}\r\n\r\n`);
    const response = await connection.response();
    assertSuccess(response, 200, 'Books retrieved successfully');
    assert.equal(await connection.rest(), '');
  });
});
