import { expectHeader, expectNull, expectOutcome, expectSame } from '../expect.ts';
import { rulesOf } from '../rule.ts';
import type { Service } from '../service.ts';
import { readSegment, type TokenParts } from '../tokens.ts';
import { expectAccepted } from './authentication.ts';

const SECTION = { section: 'Renewed tokens', group: 'decision' } as const;

const LIFETIME_SECONDS = 900;
const RENEWAL_SECONDS = 12 * 3600;
/** The clocks may differ by a second, and a request takes a moment. */
const TOLERANCE_SECONDS = 5;

/** An addition to the contract: tokens that are renewed while they are valid. */
export const tokenRenewalRules = [
  ...rulesOf(
    { ...SECTION, needs: 'token renewal' },
    {
      '200 Token generated successfully with a token for 15 minutes, with the claims exp and auth_time, that of the sign-in':
        async (service) => {
          const token = await service.newToken();
          const signIn = Number(claimsOf(token).exp) - LIFETIME_SECONDS;
          const renewed = await renew(service, token);
          const again = await renew(service, renewed);
          for (const each of [renewed, again]) {
            const { exp, ...others } = claimsOf(each);
            expectSame('claims besides exp', others, { auth_time: signIn });
            const lifetime = Number(exp) - service.now();
            const isRight = Math.abs(lifetime - LIFETIME_SECONDS) <= TOLERANCE_SECONDS;
            expectSame(`exp in ${lifetime} s is in 15 minutes`, isRight, true);
            await expectAccepted(service, each, 'renewed');
          }
        },
      'a renewed token has the scope of the former one': async (service) => {
        const token = await service.newToken('read');
        const { scope } = claimsOf(token);
        expectSame('scope', claimsOf(await renew(service, token)).scope, scope);
      },
      'the body is ignored': async (service) => {
        const response = await service.post('/token/renewal', '{"scope":');
        expectOutcome(response, 200, 'Token generated successfully');
      },
      '401 without a token, and with an invalid one': async (service) => {
        const missing = await service.sendWithoutToken('POST', '/token/renewal');
        expectNull(missing, 401, 'Authorization token required');
        await expectNotRenewed(service, `${await service.newToken()}x`, 'another signature');
      },
      'Cache-Control is no-store': async (service) => {
        expectHeader(await service.send('POST', '/token/renewal'), 'cache-control', 'no-store');
      },
    },
  ),
  ...rulesOf(
    { ...SECTION, needs: 'token renewal and secret' },
    {
      'a token is renewed for 12 hours after the time in auth_time, which stays': async (service) => {
        const auth_time = service.now() - RENEWAL_SECONDS + 60;
        const token = service.sign({ payload: { exp: service.now() + 60, auth_time } });
        expectSame('auth_time', claimsOf(await renew(service, token)).auth_time, auth_time);
      },
      '401 Invalid token when the sign-in was 12 hours ago': async (service) => {
        const exp = service.now() + 60;
        for (const ago of [RENEWAL_SECONDS, 2 * RENEWAL_SECONDS, service.now()])
          await expectSignedNotRenewed(service, { payload: { exp, auth_time: service.now() - ago } });
      },
      '401 Invalid token when the token has no exp, or an auth_time that is not a number': async (
        service,
      ) => {
        const exp = service.now() + 60;
        await expectSignedNotRenewed(service, { payload: {} });
        await expectSignedNotRenewed(service, { payload: { auth_time: service.now() } });
        for (const auth_time of [String(service.now()), '', null, true, {}])
          await expectSignedNotRenewed(service, { payload: { exp, auth_time } });
      },
      '401 Invalid token when the token has expired': async (service) => {
        const payload = { exp: service.now() - 1, auth_time: service.now() };
        await expectSignedNotRenewed(service, { payload });
      },
    },
  ),
];

/** The renewed token. */
async function renew(service: Service, token: string): Promise<string> {
  const response = await service.send('POST', '/token/renewal', { headers: { Authorization: token } });
  const data = expectOutcome(response, 200, 'Token generated successfully');
  return (data as { token: string }).token;
}

async function expectNotRenewed(service: Service, token: string, note: string): Promise<void> {
  const headers = { Authorization: token };
  expectNull(await service.send('POST', '/token/renewal', { headers, note }), 401, 'Invalid token');
}

function expectSignedNotRenewed(service: Service, parts: TokenParts): Promise<void> {
  return expectNotRenewed(service, service.sign(parts), JSON.stringify(parts.payload));
}

function claimsOf(token: string): Readonly<Record<string, unknown>> {
  return (readSegment(token, 1) ?? {}) as Record<string, unknown>;
}
