import { expectNull, expectOutcome, expectSame, Mismatch } from '../expect.ts';
import { rulesOf } from '../rule.ts';
import type { Service } from '../service.ts';
import { readSegment } from '../tokens.ts';

const LIFETIME_SECONDS = 15 * 60;

/** For different clocks, and the duration of a response. */
const TOLERANCE_SECONDS = 5;

/** The specification of logins. Failed ones are few, since a service may limit them. */
export const tokenEndpointRules = [
  ...rulesOf(
    { section: 'POST /token', group: 'specification' },
    {
      '400 Invalid request payload when the body is empty or not JSON': (service) =>
        expectInvalidPayload(service, ['', 'username', '{"username":"reader","password":']),
      '400 Invalid request payload when the body is JSON but not an object': (service) =>
        expectInvalidPayload(service, ['[]', '"username"', '1', 'true']),
      '400 Invalid request payload when username or password is not a string': (service) =>
        expectInvalidPayload(service, [
          '{"username":1,"password":"x"}',
          '{"username":"reader","password":true}',
          '{"username":["reader"],"password":"x"}',
          '{"username":"reader","password":{}}',
        ]),
      '401 Invalid credentials when the password does not match': async (service) => {
        const { username, password } = service;
        expectNull(await service.login({ username, password: `${password}x` }), 401, 'Invalid credentials');
        expectNull(
          await service.login({ username, password: password.slice(1) }),
          401,
          'Invalid credentials',
        );
      },
      '401 Invalid credentials when the username does not match': async (service) => {
        const { username, password } = service;
        expectNull(await service.login({ username: `${username}x`, password }), 401, 'Invalid credentials');
      },
      '200 Token generated successfully otherwise; data has only the token': async (service) => {
        const data = expectOutcome(await service.login(), 200, 'Token generated successfully');
        const { token, ...others } = (data ?? {}) as Record<string, unknown>;
        expectSame('type of data.token', typeof token, 'string');
        expectSame('other keys of data', Object.keys(others), []);
      },
      'needs no token, and ignores the header Authorization': async (service) => {
        const { username, password } = service;
        const options = {
          body: JSON.stringify({ username, password }),
          headers: { Authorization: 'nonsense' },
        };
        expectOutcome(await service.send('POST', '/token', options), 200, 'Token generated successfully');
      },
    },
  ),
  ...rulesOf(
    { section: 'Authentication', group: 'specification' },
    {
      'a token is signed with HS256': async (service) => {
        const token = await service.newToken();
        expectSame('segments of the token', token.split('.').length, 3);
        const { alg } = (readSegment(token, 0) ?? {}) as Record<string, unknown>;
        expectSame('alg of the token', alg, 'HS256');
      },
      'a token has one claim, exp': async (service) => {
        const claims = readSegment(await service.newToken(), 1);
        expectSame('claims of the token', Object.keys(claims ?? {}), ['exp']);
      },
      'a token can be used repeatedly, and together with others': async (service) => {
        const tokens = [await service.newToken(), await service.newToken()];
        const { id } = await service.createBook();
        for (const token of [...tokens, ...tokens]) {
          const response = await service.send('GET', `/book/${id}`, { headers: { Authorization: token } });
          expectOutcome(response, 200, 'Book retrieved successfully');
        }
      },
    },
  ),
  ...rulesOf(
    { section: 'Limits', group: 'specification' },
    {
      'a token expires 15 minutes after issue; exp is in Unix seconds': async (service) => {
        const token = await service.newToken();
        const { exp } = (readSegment(token, 1) ?? {}) as Record<string, unknown>;
        const seconds = Number(exp) - service.now();
        if (!Number.isInteger(exp) || Math.abs(seconds - LIFETIME_SECONDS) > TOLERANCE_SECONDS) {
          throw new Mismatch(
            'exp of the token',
            `${LIFETIME_SECONDS} s ahead`,
            `${String(exp)}, ${seconds} s ahead`,
          );
        }
      },
    },
  ),
];

async function expectInvalidPayload(service: Service, bodies: readonly string[]): Promise<void> {
  for (const body of bodies) expectNull(await service.login(body), 400, 'Invalid request payload');
}
