import type { HttpResponse } from '../client.ts';
import {
  expectCreated,
  expectHeader,
  expectNull,
  expectOutcome,
  expectRetrieved,
  expectSame,
  expectStored,
  expectUpdated,
  Mismatch,
} from '../expect.ts';
import { rulesOf } from '../rule.ts';

const BODY_BYTES_MAX = 1024 * 1024;
const LOGIN_BYTES_MAX = 16 * 1024;

/** The methods of each path, which a 405 lists. */
const METHODS = {
  '/token': ['POST'],
  '/book': ['POST'],
  '/books': ['GET', 'HEAD'],
  '/book/1': ['GET', 'HEAD', 'PUT', 'DELETE'],
} as const;

/** Additions to the contract that an implementation may have. */
const ADDITIONS: readonly string[] = ['POST /books', 'PATCH /books'];

/** Decisions on responses beyond the contract's table, for HTTP, limits and caches. */
export const httpRules = rulesOf(
  { section: 'HTTP', group: 'decision' },
  {
    'keys are in this order: status, message, data; id, title, author, year': async (service) => {
      const created = await service.post('/book', '{"year":1,"author":"b","title":"a"}');
      const { id } = expectCreated(created);
      const book = `{"id":${id},"title":"a","author":"b","year":1}`;
      expectText(created, `{"status":201,"message":"Book created successfully","data":${book}}`);
      const found = await service.get(`/book/${id}`);
      expectText(found, `{"status":200,"message":"Book retrieved successfully","data":${book}}`);
      const updated = await service.put(`/book/${id}`, '{}');
      expectText(updated, `{"status":200,"message":"Book updated successfully","data":${book}}`);
      const list = await service.get('/books');
      expectText(list, '{"status":200,"message":"Books retrieved successfully","data":[', 'startsWith');
      expectText(list, book, 'includes');
      const deleted = await service.delete(`/book/${id}`);
      expectText(deleted, '{"status":200,"message":"Book deleted successfully","data":null}');
      const token = await service.login();
      expectText(
        token,
        '{"status":200,"message":"Token generated successfully","data":{"token":"',
        'startsWith',
      );
      expectText(await service.get(`/book/${id}`), '{"status":404,"message":"Book not found","data":null}');
      expectText(await service.get('/nowhere'), '{"status":404,"message":"Not found","data":null}');
      expectText(await service.post('/book', ''), '{"status":400,"message":"Invalid input","data":null}');
      const rejected = await service.sendWithoutToken('GET', '/books');
      expectText(rejected, '{"status":401,"message":"Authorization token required","data":null}');
      const malformed = await service.exchange(['nonsense']);
      expectText(malformed, '{"status":400,"message":"Bad request","data":null}');
    },
    '404 Not found when there is no such path; paths are exact, and no token is needed': async (service) => {
      const { id } = await service.createBook();
      for (const path of [
        '/nowhere',
        '/book/',
        `/book/${id}/`,
        `//book/${id}`,
        `/book//${id}`,
        '/books/',
        '/token/',
        '/BOOKS',
        `/Book/${id}`,
        `/book/${id}/title`,
        '/book/../books',
        '/%62ooks',
        '/book%73',
        '/%zz',
      ]) {
        expectNull(await service.sendWithoutToken('GET', path), 404, 'Not found');
        expectNull(await service.post(path, '{}'), 404, 'Not found');
      }
    },
    '405 Method not allowed when the path exists, with Allow; no token is needed': async (service) => {
      for (const [path, methods] of Object.entries(METHODS)) {
        const rejected = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'].filter(
          (name) => !methods.some((is) => is === name),
        );
        for (const method of rejected) {
          if (ADDITIONS.includes(`${method} ${path}`)) continue;
          for (const target of [path, `${path}?limit=1`]) {
            const response = await service.sendWithoutToken(method, target);
            expectNull(response, 405, 'Method not allowed');
            const allowed = (response.headers.get('allow') ?? '').split(',').map((name) => name.trim());
            const isComplete = methods.every((name) => allowed.includes(name)) && !allowed.includes(method);
            if (!isComplete)
              throw new Mismatch(response.request, `Allow: ${methods.join(', ')}`, allowed.join(', '));
          }
        }
      }
    },
    'HEAD gets the same response as GET, without content': async (service) => {
      const { id } = await service.createBook();
      for (const [path, status] of [
        [`/book/${id}`, 200],
        [`/book/${await service.absentId()}`, 404],
        ['/books', 200],
        ['/token', 405],
        ['/nowhere', 404],
      ] as const) {
        const response = await service.exchangeRequest(`HEAD ${path}`, ['Authorization: {token}']);
        expectSame(`HEAD ${path}: status and content`, [response.status, response.body], [status, '']);
        expectHeader(response, 'content-type', /^application\/json/);
      }
      const rejected = await service.exchangeRequest(`HEAD /book/${id}`);
      expectSame(
        `HEAD /book/${id} without token: status and content`,
        [rejected.status, rejected.body],
        [401, ''],
      );
    },
    '400 Bad request when an HTTP/1.1 request has no Host, or two': async (service) => {
      const head = ['GET /books HTTP/1.1', 'Connection: close', 'Authorization: {token}'];
      const host = `Host: ${service.host}`;
      expectNull(await service.exchange(head), 400, 'Bad request');
      expectNull(await service.exchange([...head, host, host]), 400, 'Bad request');
      expectNull(await service.exchange([...head, host, 'Host: elsewhere.invalid']), 400, 'Bad request');
      expectNull(await service.exchange(['GET /nowhere HTTP/1.1', 'Connection: close']), 400, 'Bad request');
    },
    'HTTP/1.0 needs no Host': async (service) => {
      const { id } = await service.createBook();
      const response = await service.exchange([`GET /book/${id} HTTP/1.0`, 'Authorization: {token}']);
      expectRetrieved(response);
    },
    '400 Bad request when the HTTP is malformed': async (service) => {
      const body = '{"title":"never stored"}';
      const length = `Content-Length: ${body.length}`;
      expectNull(await service.exchange(['nonsense'], [body]), 400, 'Bad request');
      for (const head of [
        ['GET /books HTTP/9.9'],
        ['FETCH /books HTTP/1.1'],
        ['GET /books HTTP/1.1', 'no colon'],
        ['GET /books HTTP/1.1', 'Name : space before the colon'],
        ['GET /books HTTP/1.1', 'Name: control \x00 character'],
      ]) {
        expectNull(await service.exchange([...head, `Host: ${service.host}`], [body]), 400, 'Bad request');
      }
      for (const [lines, content] of [
        [['Content-Length: many'], body],
        [['Content-Length: -1'], body],
        [[length, 'Content-Length: 1'], body],
        [[length, 'Transfer-Encoding: chunked'], body],
        [['Transfer-Encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n'],
      ] as const) {
        const response = await service.exchangeRequest(
          'POST /book',
          ['Authorization: {token}', ...lines],
          [content],
        );
        expectNull(response, 400, 'Bad request');
      }
    },
    '413 Payload too large when the body is over 1 MiB, announced or not': async (service) => {
      const { id } = await service.createBook();
      const body = bookOf(BODY_BYTES_MAX + 1);
      for (const sent of [body, [body]]) {
        expectNull(await service.send('POST', '/book', { body: sent }), 413, 'Payload too large');
        expectNull(await service.send('PUT', `/book/${id}`, { body: sent }), 413, 'Payload too large');
        const login = await service.sendWithoutToken('POST', '/token', { body: sent });
        expectNull(login, 413, 'Payload too large');
      }
      await expectStored(service, { id, title: 'The Odyssey' });
    },
    '413 Payload too large when the body of POST /token is over 16 KiB, announced or not; 16 KiB are read':
      async (service) => {
        const { username, password } = service;
        const login = JSON.stringify({ username, password });
        const longest = login + ' '.repeat(LOGIN_BYTES_MAX - Buffer.byteLength(login));
        expectOutcome(await service.login(longest), 200, 'Token generated successfully');
        for (const sent of [`${longest} `, [`${longest} `]]) {
          const response = await service.sendWithoutToken('POST', '/token', { body: sent });
          expectNull(response, 413, 'Payload too large');
        }
      },
    '413 Payload too large also reaches a client that reads only after it has sent everything': async (
      service,
    ) => {
      const length = 2 * BODY_BYTES_MAX;
      const body = bookOf(length);
      const pieces = [body.slice(0, 1.5 * BODY_BYTES_MAX), body.slice(1.5 * BODY_BYTES_MAX)];
      const lines = ['Authorization: {token}', `Content-Length: ${length}`];
      // The service has to reject it while the last piece is to come, which takes a busy one longer than the first pause.
      for (const pauseMs of [20, 100, 300]) {
        const response = await service.exchangeRequest('POST /book', lines, pieces, pauseMs);
        expectNull(response, 413, 'Payload too large');
      }
    },
    'a body of exactly 1 MiB is read': async (service) => {
      const body = bookOf(BODY_BYTES_MAX);
      const { title } = JSON.parse(body) as { title: string };
      const { id } = expectCreated(await service.post('/book', body), {
        title,
      });
      await expectStored(service, { id, title });
      expectUpdated(await service.put(`/book/${id}`, body), { title });
    },
    '404 Book not found comes before 413': async (service) => {
      const response = await service.put(`/book/${await service.absentId()}`, bookOf(BODY_BYTES_MAX + 1));
      expectNull(response, 404, 'Book not found');
    },
    '401 comes before 413, and before the body is sent': async (service) => {
      const large = await service.sendWithoutToken('POST', '/book', { body: bookOf(BODY_BYTES_MAX + 1) });
      expectNull(large, 401, 'Authorization token required');
      for (const path of ['/book', '/book/1']) {
        const method = path === '/book' ? 'POST' : 'PUT';
        const announced = { body: [], headers: { 'Content-Length': '20' }, unfinished: true };
        const missing = await service.sendWithoutToken(method, path, announced);
        expectNull(missing, 401, 'Authorization token required');
        const headers = { ...announced.headers, Authorization: 'nonsense' };
        expectNull(await service.send(method, path, { ...announced, headers }), 401, 'Invalid token');
      }
    },
    '417 Expectation failed when Expect is other than 100-continue': async (service) => {
      const response = await service.exchangeRequest('GET /books', [
        'Authorization: {token}',
        'Expect: a miracle',
      ]);
      expectNull(response, 417, 'Expectation failed');
    },
    '431 Request header fields too large': async (service) => {
      const response = await service.exchangeRequest('GET /books', [`Cookie: ${'x'.repeat(40_000)}`]);
      expectNull(response, 431, 'Request header fields too large');
    },
    '401 carries WWW-Authenticate: Token realm="books"': async (service) => {
      const responses = [
        await service.sendWithoutToken('GET', '/books'),
        await service.send('GET', '/books', { headers: { Authorization: 'nonsense' } }),
        await service.login({ username: service.username, password: '' }),
      ];
      for (const response of responses) {
        expectSame(`${response.request}: status`, response.status, 401);
        expectHeader(response, 'www-authenticate', 'Token realm="books"');
      }
    },
    'Cache-Control is no-store on POST /token': async (service) => {
      expectHeader(await service.login(), 'cache-control', 'no-store');
      expectHeader(await service.login('nonsense'), 'cache-control', 'no-store');
    },
    'Cache-Control is private, no-cache on what a token protects': async (service) => {
      const book = await service.post('/book', '{}');
      const { id } = expectCreated(book);
      const responses = [
        book,
        await service.get('/books'),
        await service.get(`/book/${id}`),
        await service.put(`/book/${id}`, '{}'),
        await service.delete(`/book/${id}`),
      ];
      for (const response of responses) expectHeader(response, 'cache-control', /^private, ?no-cache$/);
    },
    'a browser of an origin that is not listed gets no CORS headers': async (service) => {
      const headers = { Origin: 'https://nobody-listed-this.invalid' };
      const response = await service.send('GET', `/book/${await service.absentId()}`, { headers });
      expectOutcome(response, 404, 'Book not found');
      const allowed = response.headers.get('access-control-allow-origin');
      expectSame('Access-Control-Allow-Origin', allowed === '*' || allowed === headers.Origin, false);
    },
  },
);

function expectText(
  response: HttpResponse,
  expected: string,
  how: 'equals' | 'startsWith' | 'includes' = 'equals',
): void {
  const holds = how === 'equals' ? response.body === expected : response.body[how](expected);
  if (!holds) throw new Mismatch(response.request, expected, response.body);
}

/** A valid body of exactly this many bytes. */
function bookOf(bytes: number): string {
  const [start, end] = ['{"title":"a","unknown":"', '"}'];
  return `${start}${'x'.repeat(bytes - start.length - end.length)}${end}`;
}
