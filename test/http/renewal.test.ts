import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Tokens } from '../../src/auth/tokens.ts';
import { Secret } from '../../src/secret.ts';
import { Connection } from '../../testkit/connection.ts';
import { SECRET, type Service, startService } from '../../testkit/service.ts';

const HOURS_MS = 3_600_000;
const MINUTES_MS = 60_000;

/** The status of a renewal, its `Error-Detail`, and the token. */
async function renew(service: Service, token: string) {
  const headers = { Authorization: token };
  const response = await service.fetch('POST', '/token/renewal', undefined, headers);
  const { data } = (await response.json()) as { data: { token: string } | null };
  return { status: response.status, detail: response.headers.get('error-detail'), token: data?.token ?? '' };
}

const statusOf = async (service: Service, token: string) =>
  (await service.fetch('GET', '/books', undefined, { Authorization: token })).status;

describe('POST /token/renewal', () => {
  test('keeps a session for 12 hours after the sign-in, and then says that a sign-in is needed', async () => {
    let passedMs = 0;
    const startMs = Date.now();
    await using service = await startService({ now: () => startMs + passedMs });
    let { token } = service;
    for (; passedMs < 12 * HOURS_MS; passedMs += 14 * MINUTES_MS) {
      const renewed = await renew(service, token);
      assert.equal(renewed.status, 200);
      token = renewed.token;
    }
    assert.equal(await statusOf(service, token), 200);
    const detail = 'sign in again: tokens are renewed for 12 hours';
    assert.deepEqual(await renew(service, token), { status: 401, detail, token: '' });
    passedMs += MINUTES_MS;
    assert.equal(await statusOf(service, token), 401);
    assert.deepEqual(await renew(service, token), {
      status: 401,
      detail: 'the token has expired',
      token: '',
    });
  });

  test('renews a read-only token to a read-only one, and the log has its scope', async () => {
    await using service = await startService();
    const { token } = await renew(service, new Tokens(new Secret(SECRET), Date.now).issue(60, 'read'));
    const headers = { Authorization: token };
    assert.equal((await service.fetch('GET', '/books', undefined, headers)).status, 200);
    assert.equal((await service.fetch('POST', '/book', '{}', headers)).status, 403);
    const lines = service.log.map((line) => JSON.parse(line) as { route?: string; scope?: string });
    assert.equal(lines.find(({ route }) => route === '/token/renewal')?.scope, 'read');
  });

  test('of a token that never expires is 401 with the reason', async () => {
    await using service = await startService();
    const parts = ['{"alg":"HS256"}', '{}'].map((text) => Buffer.from(text).toString('base64url'));
    const { createHmac } = await import('node:crypto');
    const signed = parts.join('.');
    const endless = `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`;
    assert.equal(await statusOf(service, endless), 200);
    const detail = 'a token without exp cannot be renewed';
    assert.deepEqual(await renew(service, endless), { status: 401, detail, token: '' });
  });

  test('does not count as a login, needs no room in the throttle, and does not read a body', async () => {
    await using service = await startService({ httpLimits: { failedLogins: 1 } });
    for (let time = 0; time < 3; time++) assert.equal((await renew(service, 'nonsense')).status, 401);
    await service.fetch('POST', '/token', '{}');
    assert.equal((await service.fetch('POST', '/token', '{}')).status, 429);
    assert.equal((await renew(service, service.token)).status, 200);
    using connection = await Connection.open(service);
    await connection.send(
      `POST /token/renewal HTTP/1.1\r\nHost: localhost\r\n${service.authorization}\r\nContent-Length: 2\r\n\r\n`,
    );
    assert.equal((await connection.response()).status, 200);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    assert.match(metrics, /^bookkeeping_logins_total\{[^}]*succeeded[^}]*\} 0$/m);
  });
});
