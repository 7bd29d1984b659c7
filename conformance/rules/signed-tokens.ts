import { createHmac } from 'node:crypto';
import { expectSame } from '../expect.ts';
import { rulesOf } from '../rule.ts';
import { encodeBase64url, makeToken, withSpareBit } from '../tokens.ts';
import { expectAccepted, expectInvalid } from './authentication.ts';

const HOUR_SECONDS = 3600;

/** Rules that need the secret: signed tokens, most of them invalid in one way. */
export const signedTokenRules = [
  ...rulesOf(
    { section: 'Authentication', group: 'specification', needs: 'secret' },
    {
      'an issued token is signed with SECRET_TOKEN': async (service) => {
        const token = await service.newToken();
        const end = token.lastIndexOf('.');
        const mac = createHmac('sha256', service.secret ?? '')
          .update(token.slice(0, end))
          .digest('base64url');
        expectSame('the signature verifies against the given secret', token.slice(end + 1) === mac, true);
      },
      'a token that was signed elsewhere with the secret is accepted': async (service) => {
        await expectAccepted(service, service.sign(), 'signed elsewhere');
        await expectAccepted(service, service.sign({ header: { alg: 'HS256' } }), 'without typ');
      },
      'every HMAC algorithm is accepted: HS256, HS384, HS512': async (service) => {
        for (const signedWith of ['HS256', 'HS384', 'HS512'] as const) {
          await expectAccepted(service, service.sign({ signedWith }), signedWith);
        }
      },
      '401 Invalid token when it has expired': async (service) => {
        for (const seconds of [1, HOUR_SECONDS, service.now()]) {
          const token = service.sign({ payload: { exp: service.now() - seconds } });
          await expectInvalid(service, token, `expired ${seconds} s ago`);
        }
      },
      '401 Invalid token when it is signed with another secret': async (service) => {
        const payload = { exp: service.now() + HOUR_SECONDS };
        const secret = service.secret ?? '';
        const keys = { longer: `${secret}x`, shorter: secret.slice(1), guessed: 'secret', empty: '' };
        for (const [note, key] of Object.entries(keys)) {
          await expectInvalid(service, makeToken(key, { payload }), `key ${note}`);
        }
      },
      '401 Invalid token when the header names no HMAC algorithm, though it is signed with the secret':
        async (service) => {
          for (const alg of [
            'none',
            'RS256',
            'RS512',
            'ES256',
            'PS256',
            'EdDSA',
            'hs256',
            'HS1',
            '',
            null,
            256,
          ]) {
            const token = service.sign({ header: { alg, typ: 'JWT' } });
            await expectInvalid(service, token, `alg ${JSON.stringify(alg)}`);
          }
          await expectInvalid(service, service.sign({ header: { typ: 'JWT' } }), 'no alg');
        },
      '401 Invalid token when the header names another HMAC algorithm than the signature has': async (
        service,
      ) => {
        const longer = service.sign({ header: { alg: 'HS256' }, signedWith: 'HS512' });
        await expectInvalid(service, longer, 'HS256 signed with HS512');
        const shorter = service.sign({ header: { alg: 'HS384' }, signedWith: 'HS256' });
        await expectInvalid(service, shorter, 'HS384 signed with HS256');
      },
      '401 Invalid token when header or payload is not JSON': async (service) => {
        for (const text of ['', 'nonsense', '{"exp":', '{"alg":"HS256"} {}']) {
          await expectInvalid(service, service.sign({ header: text }), `header '${text}'`);
          await expectInvalid(service, service.sign({ payload: text }), `payload '${text}'`);
        }
      },
    },
  ),
  ...rulesOf(
    { section: 'Tokens', group: 'decision', needs: 'secret' },
    {
      'a token without exp is accepted': (service) =>
        expectAccepted(service, service.sign({ payload: {} }), 'no exp'),
      '401 Invalid token from the second of exp on, without leeway': (service) =>
        expectInvalid(service, service.sign({ payload: { exp: service.now() } }), 'exp now'),
      '401 Invalid token when exp is not a number': async (service) => {
        const later = service.now() + HOUR_SECONDS;
        for (const exp of [String(later), '', null, true, {}, [later]]) {
          await expectInvalid(service, service.sign({ payload: { exp } }), JSON.stringify({ exp }));
        }
      },
      'nbf in the past is accepted': async (service) => {
        const payload = { exp: service.now() + HOUR_SECONDS, nbf: service.now() };
        await expectAccepted(service, service.sign({ payload }), 'nbf now');
      },
      '401 Invalid token when nbf is in the future': async (service) => {
        const payload = { exp: service.now() + HOUR_SECONDS, nbf: service.now() + 60 };
        await expectInvalid(service, service.sign({ payload }), 'nbf in 60 s');
      },
      '401 Invalid token when nbf is not a number': async (service) => {
        for (const nbf of [String(service.now()), '', null, true, {}]) {
          const payload = { exp: service.now() + HOUR_SECONDS, nbf };
          await expectInvalid(service, service.sign({ payload }), JSON.stringify({ nbf }));
        }
      },
      'unknown claims and header members are ignored': async (service) => {
        const payload = { exp: service.now() + HOUR_SECONDS, sub: 'reader', admin: false };
        const token = service.sign({ payload, header: { alg: 'HS256', kid: '../../key' } });
        await expectAccepted(service, token, 'sub, admin and kid');
      },
      '401 Invalid token when crit names an unknown extension, or is not a list of names': async (
        service,
      ) => {
        for (const crit of [['x'], ['exp'], [], 'x', null, [1]]) {
          const token = service.sign({ header: { alg: 'HS256', crit, x: 1 } });
          await expectInvalid(service, token, JSON.stringify({ crit }));
        }
      },
      '401 Invalid token when the payload is not an object': async (service) => {
        for (const payload of ['[]', 'null', '1', '"exp"', '[{"exp":4102444800}]']) {
          await expectInvalid(service, service.sign({ payload }), `payload ${payload}`);
        }
      },
      '401 Invalid token when a signed segment is not canonical base64url': async (service) => {
        // Both segments have spare bits, and a lenient decoder reads the same JSON.
        const parts = { header: '{"alg":"HS256"} ', payload: '{"exp":4102444800}  ' };
        await expectAccepted(service, service.sign(parts), 'canonical');
        const encodings = {
          'a spare bit set': (text: string) => withSpareBit(encodeBase64url(text)),
          padded: (text: string) => `${encodeBase64url(text)}=`,
          'a space inside': (text: string) => encodeBase64url(text).replace(/^../, '$& '),
          'a foreign character': (text: string) => `*${encodeBase64url(text)}`,
        };
        for (const [note, encode] of Object.entries(encodings)) {
          await expectInvalid(service, service.sign({ ...parts, encode }), note);
        }
      },
    },
  ),
  ...rulesOf(
    { section: 'Tokens', group: 'decision' },
    {
      '401 Invalid token when the signature is not canonical base64url': async (service) => {
        const token = await service.newToken();
        await expectInvalid(service, withSpareBit(token), 'a spare bit set');
        await expectInvalid(service, `${token}=`, 'padded');
        await expectInvalid(service, `${token}*`, 'a foreign character');
        await expectInvalid(service, `${token.slice(0, -4)} ${token.slice(-4)}`, 'a space inside');
      },
    },
  ),
];
