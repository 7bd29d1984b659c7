import {
  expectNull,
  expectOutcome,
  expectRetrieved,
  expectSame,
  expectStored,
  expectUpdated,
} from '../expect.ts';
import { rulesOf } from '../rule.ts';
import { readSegment } from '../tokens.ts';

const SECTION = { section: 'Read-only tokens', group: 'decision' } as const;

/** An addition to the contract: tokens with the claim `scope`. */
export const readOnlyTokenRules = [
  ...rulesOf(
    { ...SECTION, needs: 'read-only tokens' },
    {
      'POST /token with "scope": "read" issues a token with the claims exp and scope': async (service) => {
        const { username, password } = service;
        for (const name of ['scope', 'Scope']) {
          const response = await service.login({ username, password, [name]: 'read' });
          const data = expectOutcome(response, 200, 'Token generated successfully');
          const { exp, ...others } = readSegment((data as { token: string }).token, 1) as { exp: unknown };
          expectSame('type of exp, and other claims', [typeof exp, others], ['number', { scope: 'read' }]);
        }
      },
      '400 Invalid request payload when the scope of POST /token is not "read"': async (service) => {
        const { username, password } = service;
        for (const scope of ['', 'READ', 'write', 'read write', null, 1, ['read'], {}])
          expectNull(await service.login({ username, password, scope }), 400, 'Invalid request payload');
      },
      'GET and HEAD are accepted': async (service) => {
        const book = await service.createBook();
        const token = await service.newToken('read');
        const headers = { Authorization: token };
        for (let time = 0; time < 2; time++)
          expectRetrieved(await service.send('GET', `/book/${book.id}`, { headers }), book);
        expectOutcome(await service.send('GET', '/books', { headers }), 200, 'Books retrieved successfully');
        const head = await service.exchangeRequest(`HEAD /book/${book.id}`, [`Authorization: ${token}`]);
        expectSame('HEAD: status and content', [head.status, head.body], [200, '']);
      },
      '403 Read-only token for anything else, before the book and the body; nothing is changed': async (
        service,
      ) => {
        const book = await service.createBook();
        const absent = await service.absentId();
        const token = await service.newToken('read');
        const headers = { Authorization: token };
        for (const [method, path] of [
          ['POST', '/book'],
          ['PUT', `/book/${book.id}`],
          ['PUT', `/book/${absent}`],
          ['DELETE', `/book/${book.id}`],
          ['DELETE', `/book/${absent}`],
        ] as const) {
          for (const body of ['{"title":"never stored"}', '{"title":'])
            expectNull(await service.send(method, path, { headers, body }), 403, 'Read-only token');
        }
        const announced = { body: [], headers: { ...headers, 'Content-Length': '20' }, unfinished: true };
        expectNull(await service.send('POST', '/book', announced), 403, 'Read-only token');
        await expectStored(service, book);
      },
    },
  ),
  ...rulesOf(
    { ...SECTION, needs: 'secret' },
    {
      'a scope other than "read" means nothing': async (service) => {
        const book = await service.createBook();
        const exp = service.now() + 60;
        for (const scope of ['', 'READ', 'write', 'read write', null, 1, ['read'], { read: true }]) {
          const headers = { Authorization: service.sign({ payload: { exp, scope } }) };
          const note = JSON.stringify({ scope });
          expectUpdated(await service.send('PUT', `/book/${book.id}`, { headers, body: '{}', note }), book);
        }
      },
    },
  ),
];
