import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LOGIN, startService, TITLE } from '../../testkit/service.ts';

const ORIGIN = 'https://books.example';
const OTHER_ORIGIN = 'http://localhost:5173';
const STRANGER = 'https://stranger.example';
const corsOrigins = [ORIGIN, OTHER_ORIGIN];

describe('An origin in CORS_ORIGINS', () => {
  test('is allowed every request of the API by a preflight, which needs no token', async () => {
    await using service = await startService({ corsOrigins });
    for (const origin of corsOrigins) {
      for (const [method, path] of [
        ['POST', '/token'],
        ['POST', '/book'],
        ['GET', '/books'],
        ['PUT', '/book/1'],
        ['DELETE', '/book/1'],
      ] as const) {
        const response = await fetch(`${service.url}${path}`, {
          method: 'OPTIONS',
          headers: {
            Origin: origin,
            'Access-Control-Request-Method': method,
            'Access-Control-Request-Headers': 'authorization,content-type',
          },
        });
        assert.equal(response.status, 204);
        assert.equal(response.headers.get('access-control-allow-origin'), origin);
        assert.ok(listed(response, 'access-control-allow-methods').includes(method));
        assert.deepEqual(listed(response, 'access-control-allow-headers'), ['authorization', 'content-type']);
        assert.ok(listed(response, 'vary').includes('Origin'));
        assert.equal(await response.text(), '');
      }
    }
  });

  test('is allowed to read every response, also errors', async () => {
    await using service = await startService({
      corsOrigins,
      httpLimits: { failedLogins: 2 },
    });
    const headers = { Origin: ORIGIN };
    for (const [method, path, status, body, token] of [
      ['POST', '/book', 201, JSON.stringify({ title: TITLE })],
      ['GET', '/books', 200],
      ['GET', '/book/1', 200],
      ['GET', '/book/2', 404],
      ['GET', '/nowhere', 404],
      ['DELETE', '/books', 405],
      ['PUT', '/book/1', 400, '[]'],
      ['PUT', '/book/1', 413, TITLE.repeat(200_000)],
      ['GET', '/books', 401, undefined, ''],
      ['GET', '/books', 401, undefined, 'nonsense'],
      ['POST', '/token', 200, LOGIN],
      ['POST', '/token', 401, '{}'],
      ['POST', '/token', 401, '{}'],
      ['POST', '/token', 429, '{}'],
    ] as const) {
      const authorization = token === undefined ? {} : { Authorization: token };
      const response = await service.fetch(method, path, body, { ...headers, ...authorization });
      assert.equal(response.status, status, `${method} ${path}`);
      assert.equal(
        response.headers.get('access-control-allow-origin'),
        ORIGIN,
        `${method} ${path} ${status}`,
      );
      assert.deepEqual(listed(response, 'access-control-expose-headers'), [
        'ETag',
        'Error-Detail',
        'Invalid-Index',
        'Link',
        'Retry-After',
        'WWW-Authenticate',
        'X-Offset',
        'X-Request-Id',
        'X-Total-Count',
      ]);
      assert.ok(listed(response, 'vary').includes('Origin'));
      const envelope = (await response.json()) as { status: unknown };
      assert.equal(envelope.status, status);
    }
  });

  test('is not allowed credentials', async () => {
    await using service = await startService({ corsOrigins });
    const response = await service.fetch('GET', '/books', undefined, { Origin: ORIGIN });
    assert.equal(response.headers.get('access-control-allow-credentials'), null);
  });

  test('gets 404 or 405 for OPTIONS that is not a preflight', async () => {
    await using service = await startService({ corsOrigins });
    assert.equal((await service.fetch('OPTIONS', '/nowhere')).status, 404);
    assert.equal((await service.fetch('OPTIONS', '/books')).status, 405);
  });
});

describe('Any other origin', () => {
  for (const origin of [
    STRANGER,
    `${ORIGIN}.stranger.example`,
    'https://BOOKS.example',
    'http://books.example',
    'null',
  ]) {
    test(`is not allowed: ${origin}`, async () => {
      await using service = await startService({ corsOrigins });
      const headers = { Origin: origin, 'Access-Control-Request-Method': 'GET' };
      for (const method of ['OPTIONS', 'GET']) {
        const response = await service.fetch(method, '/books', undefined, headers);
        assert.equal(response.headers.get('access-control-allow-origin'), null);
        assert.ok(
          listed(response, 'vary').includes('Origin'),
          'caches must not reuse the response for other origins',
        );
      }
    });
  }
});

test('Without CORS_ORIGINS no response has headers of CORS', async () => {
  await using service = await startService();
  const headers = { Origin: ORIGIN, 'Access-Control-Request-Method': 'GET' };
  for (const [method, status] of [
    ['OPTIONS', 405],
    ['GET', 200],
    ['PUT', 405],
  ] as const) {
    const response = await service.fetch(method, '/books', undefined, headers);
    assert.equal(response.status, status);
    const names = [...response.headers.keys()];
    assert.ok(!names.some((name) => name.startsWith('access-control-') || name === 'vary'), names.join());
  }
});

function listed(response: Response, name: string): string[] {
  return (response.headers.get(name) ?? '').split(',').map((item) => item.trim());
}
