import { expectBooks, expectNull, expectRetrieved, expectSame, expectStored } from '../expect.ts';
import { rulesOf } from '../rule.ts';
import type { Service } from '../service.ts';
import { encodeBase64url } from '../tokens.ts';

/** The specification of tokens, as far as it can be tested without the secret. */
export const authenticationRules = rulesOf(
  { section: 'Authentication', group: 'specification' },
  {
    '401 Authorization token required when the header is absent': (service) =>
      expectRejected(service, undefined, 'Authorization token required'),
    '401 Authorization token required when the header is empty': async (service) => {
      await expectRejected(service, '', 'Authorization token required');
      await expectRejected(service, '   ', 'Authorization token required');
    },
    '401 Invalid token when the token does not parse': async (service) => {
      const [header = '', payload = '', signature = ''] = (await service.newToken()).split('.');
      const tokens = {
        'one word': 'nonsense',
        'three empty segments': '..',
        'two segments': `${header}.${payload}`,
        'no signature': `${header}.${payload}.`,
        'no payload': `${header}..${signature}`,
        'no header': `.${payload}.${signature}`,
        'four segments': `${header}.${payload}.${signature}.`,
        'five segments': `${header}.${payload}.${signature}.${payload}.${signature}`,
        'a header that is not JSON': `${encodeBase64url('nonsense')}.${payload}.${signature}`,
      };
      for (const [note, token] of Object.entries(tokens)) await expectInvalid(service, token, note);
      await expectRejected(service, 'nonsense', 'Invalid token');
    },
    '401 Invalid token when a scheme precedes the token': async (service) => {
      const token = await service.newToken();
      for (const word of ['Bearer', 'bearer', 'Token', 'JWT'])
        await expectInvalid(service, `${word} ${token}`, word);
    },
    '401 Invalid token when the signature does not verify': async (service) => {
      const [header = '', payload = '', signature = ''] = (await service.newToken()).split('.');
      const later = encodeBase64url(JSON.stringify({ exp: service.now() + 1800 }));
      const changed = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1);
      await expectInvalid(service, `${header}.${payload}.${changed}`, 'signature changed');
      await expectInvalid(service, `${header}.${payload}.${signature.slice(0, 16)}`, 'signature cut');
      await expectInvalid(service, `${header}.${later}.${signature}`, 'exp changed');
    },
    '401 Invalid token when the algorithm is not an HMAC one': async (service) => {
      const [, payload = '', signature = ''] = (await service.newToken()).split('.');
      for (const alg of ['none', 'None', 'NONE', 'RS256', 'ES256', 'PS256', 'EdDSA']) {
        const header = encodeBase64url(JSON.stringify({ alg, typ: 'JWT' }));
        await expectInvalid(service, `${header}.${payload}.`, `alg ${alg} without signature`);
        await expectInvalid(service, `${header}.${payload}.${signature}`, `alg ${alg}`);
      }
    },
    'the token is checked before the book and the body': async (service) => {
      const id = await service.absentId();
      for (const [method, path] of [
        ['GET', `/book/${id}`],
        ['PUT', `/book/${id}`],
        ['DELETE', `/book/${id}`],
        ['POST', '/book'],
      ] as const) {
        const body = method === 'PUT' || method === 'POST' ? { body: '{"title":' } : {};
        const missing = await service.sendWithoutToken(method, path, body);
        expectNull(missing, 401, 'Authorization token required');
        const invalid = await service.send(method, path, { ...body, headers: { Authorization: 'nonsense' } });
        expectNull(invalid, 401, 'Invalid token');
      }
    },
    'nothing is changed without a valid token': async (service) => {
      const book = await service.createBook();
      const title = `never stored, beside ${book.id}`;
      const body = JSON.stringify({ title });
      for (const headers of [{ Authorization: '' }, { Authorization: 'nonsense' }]) {
        await service.send('PUT', `/book/${book.id}`, { body, headers });
        await service.send('DELETE', `/book/${book.id}`, { headers });
        await service.send('POST', '/book', { body, headers });
      }
      await expectStored(service, book);
      const stored = expectBooks(await service.get('/books')).filter((other) => other.title === title);
      expectSame('books stored without a valid token', stored, []);
    },
  },
);

/** Passes when the token is rejected. @param note describes it */
export async function expectInvalid(service: Service, token: string, note: string): Promise<void> {
  const response = await service.send('GET', '/book/1', { headers: { Authorization: token }, note });
  expectNull(response, 401, 'Invalid token');
}

/** Passes when the token is accepted. @param note describes it */
export async function expectAccepted(service: Service, token: string, note: string): Promise<void> {
  const book = await service.createBook();
  const response = await service.send('GET', `/book/${book.id}`, { headers: { Authorization: token }, note });
  expectRetrieved(response, book);
}

/** Passes when every protected endpoint rejects the header value (undefined: no header). */
async function expectRejected(service: Service, value: string | undefined, message: string): Promise<void> {
  const { id } = await service.createBook();
  const headers = value === undefined ? {} : { Authorization: value };
  const body = '{"title":"The Iliad"}';
  const responses = [
    await service.sendWithoutToken('POST', '/book', { headers, body }),
    await service.sendWithoutToken('GET', '/books', { headers }),
    await service.sendWithoutToken('GET', `/book/${id}`, { headers }),
    await service.sendWithoutToken('PUT', `/book/${id}`, { headers, body }),
    await service.sendWithoutToken('DELETE', `/book/${id}`, { headers }),
  ];
  for (const response of responses) expectNull(response, 401, message);
}
