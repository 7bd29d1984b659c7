import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertError, assertSuccess } from '../../testkit/assertions.ts';
import { Connection, request } from '../../testkit/connection.ts';
import { LOGIN, type Service, startService, WRONG_LOGIN } from '../../testkit/service.ts';

const FAILURES_MAX = 5;
const httpLimits = { failedLogins: FAILURES_MAX };

describe('An address with too many failed logins', () => {
  test('gets 429 with Retry-After for any body', async () => {
    await using service = await startService({ httpLimits });
    await exhaust(service);
    using connection = await Connection.open(service);
    for (const body of [WRONG_LOGIN, LOGIN, '{', '']) {
      await connection.send(request('POST /token', [], body));
      const response = await connection.response();
      assertError(response, 429, 'Too many requests');
      const seconds = Number(response.headers.get('retry-after'));
      assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60, `Retry-After: ${seconds}`);
    }
  });

  test('can use all other endpoints with its token', async () => {
    await using service = await startService({ httpLimits });
    await exhaust(service);
    assert.equal((await service.fetch('GET', '/books')).status, 200);
    assert.equal((await service.fetch('GET', '/book/1')).status, 404);
  });

  test('can log in again after the window', async () => {
    let passedMs = 0;
    await using service = await startService({
      httpLimits,
      monotonicNow: () => performance.now() + passedMs,
    });
    await exhaust(service);
    const refused = await login(service, LOGIN);
    assert.equal(refused.status, 429);
    passedMs = Number(refused.headers.get('retry-after')) * 1_000;
    assert.equal((await login(service, LOGIN)).status, 200);
  });

  test('waits for the window, and not longer when the clock of the machine is set back', async () => {
    let clockOffset = 0;
    await using service = await startService({ httpLimits, now: () => Date.now() + clockOffset });
    await exhaust(service);
    for (const offset of [-3_600_000, 3_600_000]) {
      clockOffset = offset;
      const rejected = await login(service, LOGIN);
      assert.equal(rejected.status, 429);
      const seconds = Number(rejected.headers.get('retry-after'));
      assert.ok(seconds >= 1 && seconds <= 60, `Retry-After: ${seconds}`);
    }
  });

  test('has no more of them than the limit, also when they are concurrent', async () => {
    await using service = await startService({ httpLimits });
    const responses = await Promise.all(Array.from({ length: 50 }, () => login(service, WRONG_LOGIN)));
    assert.equal(responses.filter(({ status }) => status === 401).length, FAILURES_MAX);
  });

  test('has no more of them than the limit, also when all requests begin before one ends', async () => {
    await using service = await startService({ httpLimits });
    const connections = await Promise.all(Array.from({ length: 50 }, () => Connection.open(service)));
    const bytes = request('POST /token', [], WRONG_LOGIN);
    for (const connection of connections) await connection.send(bytes.slice(0, -1));
    await service.fetch('GET', '/books');
    for (const connection of connections) await connection.send(bytes.slice(-1));
    const responses = await Promise.all(connections.map((connection) => connection.response()));
    for (const connection of connections) connection[Symbol.dispose]();
    assert.equal(responses.filter(({ status }) => status === 401).length, FAILURES_MAX);
  });
});

describe('The count of failed logins', () => {
  test('is neither increased nor reset by a successful login', async () => {
    await using service = await startService({ httpLimits });
    for (let index = 0; index < 3 * FAILURES_MAX; index++) {
      assert.equal((await login(service, LOGIN)).status, 200);
    }
    for (let index = 0; index < FAILURES_MAX; index++) {
      assert.equal((await login(service, WRONG_LOGIN)).status, 401);
      if (index < FAILURES_MAX - 1) assert.equal((await login(service, LOGIN)).status, 200);
    }
    assert.equal((await login(service, LOGIN)).status, 429);
  });

  test('is not increased by a body that is invalid or too long', async () => {
    await using service = await startService({ httpLimits });
    for (let index = 0; index < 3 * FAILURES_MAX; index++) {
      assert.equal((await login(service, '{')).status, 400);
      assert.equal((await login(service, `{"x":${'['.repeat(1_000)}`)).status, 400);
      assert.equal((await login(service, LOGIN.padEnd(16_385))).status, 413);
    }
    assert.equal((await login(service, LOGIN)).status, 200);
  });
});

describe('X-Forwarded-For', () => {
  test('is ignored by default', async () => {
    await using service = await startService({ httpLimits });
    for (let index = 0; index < FAILURES_MAX; index++) {
      assert.equal((await login(service, WRONG_LOGIN, from(`203.0.113.${index}`))).status, 401);
    }
    assert.equal((await login(service, LOGIN, from('203.0.113.99'))).status, 429);
    assert.equal((await login(service, LOGIN)).status, 429);
  });

  for (const trustProxy of [true, 1, ['127.0.0.1', '::1']] as const) {
    test(`identifies clients when TRUST_PROXY is ${String(trustProxy)}`, async () => {
      await using service = await startService({ httpLimits, trustProxy });
      for (let index = 0; index < FAILURES_MAX; index++) {
        assert.equal((await login(service, WRONG_LOGIN, from('203.0.113.1'))).status, 401);
      }
      assert.equal((await login(service, LOGIN, from('203.0.113.1'))).status, 429);
      assert.equal((await login(service, LOGIN, from('203.0.113.2'))).status, 200);
      assert.equal((await login(service, LOGIN)).status, 200);
    });
  }

  test('of one trusted proxy is used, and addresses before it are ignored', async () => {
    await using service = await startService({ httpLimits, trustProxy: 1 });
    for (let index = 0; index < FAILURES_MAX; index++) {
      const forged = from(`198.51.100.${index}, 203.0.113.1`);
      assert.equal((await login(service, WRONG_LOGIN, forged)).status, 401);
    }
    assert.equal((await login(service, LOGIN, from('198.51.100.99, 203.0.113.1'))).status, 429);
    assert.equal((await login(service, LOGIN, from('198.51.100.99, 203.0.113.2'))).status, 200);
  });

  test('is ignored when its sender is not in TRUST_PROXY', async () => {
    await using service = await startService({ httpLimits, trustProxy: ['192.0.2.1'] });
    for (let index = 0; index < FAILURES_MAX; index++) {
      await login(service, WRONG_LOGIN, from(`203.0.113.${index}`));
    }
    assert.equal((await login(service, LOGIN, from('203.0.113.99'))).status, 429);
  });

  test('with IPv6 is counted by /64', async () => {
    await using service = await startService({ httpLimits, trustProxy: true });
    for (let index = 0; index < FAILURES_MAX; index++) {
      await login(service, WRONG_LOGIN, from(`2001:db8:1:2:${index}::1`));
    }
    assert.equal((await login(service, LOGIN, from('2001:db8:1:2:ffff::9'))).status, 429);
    assert.equal((await login(service, LOGIN, from('2001:db8:1:3::1'))).status, 200);
  });

  test('may have any value', async () => {
    await using service = await startService({ httpLimits, trustProxy: true });
    for (const name of [
      '',
      ',',
      'unknown',
      '_hidden',
      '::',
      '1.2.3.4:80',
      '[::1]',
      'x'.repeat(8_000),
      '::ffff:1.2.3.4',
    ]) {
      assert.equal((await login(service, LOGIN, from(name))).status, 200);
      assert.equal((await login(service, WRONG_LOGIN, from(name))).status, 401);
    }
  });
});

test('A throttled client does not affect others on the same connection of a proxy', async () => {
  await using service = await startService({ httpLimits, trustProxy: true });
  using connection = await Connection.open(service);
  for (let index = 0; index <= FAILURES_MAX; index++) {
    await connection.send(request('POST /token', ['X-Forwarded-For: 203.0.113.1'], WRONG_LOGIN));
    assert.equal((await connection.response()).status, index < FAILURES_MAX ? 401 : 429);
  }
  await connection.send(request('POST /token', ['X-Forwarded-For: 203.0.113.2'], LOGIN));
  assertSuccess(await connection.response(), 200, 'Token generated successfully');
});

function from(address: string): Record<string, string> {
  return { 'X-Forwarded-For': address };
}

function login(service: Service, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return service.fetch('POST', '/token', body, headers);
}

async function exhaust(service: Service): Promise<void> {
  for (let index = 0; index < FAILURES_MAX; index++) {
    assert.equal((await login(service, WRONG_LOGIN)).status, 401);
  }
}
