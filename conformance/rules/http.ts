import type { Answer } from '../client.ts';
import { expectBook, expectHeader, expectNull, expectOutcome, expectSame, Mismatch } from '../expect.ts';
import { rulesOf } from '../rule.ts';
import type { Service } from '../service.ts';

const BODY_BYTES_MAX = 1024 * 1024;

/** The methods of each path; an answer 405 names them. */
const METHODS = {
  '/token': ['POST'],
  '/book': ['POST'],
  '/books': ['GET', 'HEAD'],
  '/book/1': ['GET', 'HEAD', 'PUT', 'DELETE'],
} as const;

/** What an implementation may have beyond the contract: many books in one request. */
const ADDITION = 'POST /books';

/** What is decided beyond the contract's table: answers that HTTP, the limits and caches ask for. */
export const httpRules = rulesOf(
  { section: 'HTTP', group: 'decision' },
  {
    'keys are in this order: status, message, data; id, title, author, year': async (service) => {
      const created = await service.post('/book', '{"year":1,"author":"b","title":"a"}');
      const { id } = expectBook(created, 201, 'Book created successfully');
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
      const refused = await service.sendWithoutToken('GET', '/books');
      expectText(refused, '{"status":401,"message":"Authorization token required","data":null}');
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
        '/%zz',
      ]) {
        expectNull(await service.sendWithoutToken('GET', path), 404, 'Not found');
        expectNull(await service.post(path, '{}'), 404, 'Not found');
      }
    },
    '405 Method not allowed when the path exists, with Allow; no token is needed': async (service) => {
      for (const [path, methods] of Object.entries(METHODS)) {
        const refused = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'].filter(
          (name) => !methods.some((is) => is === name),
        );
        for (const method of refused) {
          if (`${method} ${path}` === ADDITION) continue;
          const answer = await service.sendWithoutToken(method, path);
          expectNull(answer, 405, 'Method not allowed');
          const allowed = (answer.headers.get('allow') ?? '').split(',').map((name) => name.trim());
          const isRight = methods.every((name) => allowed.includes(name)) && !allowed.includes(method);
          if (!isRight)
            throw new Mismatch(answer.request, `Allow: ${methods.join(', ')}`, allowed.join(', '));
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
        const answer = await exchange(service, `HEAD ${path}`, ['Authorization: {token}']);
        expectSame(`HEAD ${path}: status and content`, [answer.status, answer.body], [status, '']);
        expectHeader(answer, 'content-type', /^application\/json/);
      }
      const refused = await exchange(service, `HEAD /book/${id}`);
      expectSame(
        `HEAD /book/${id} without token: status and content`,
        [refused.status, refused.body],
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
      const answer = await service.exchange([`GET /book/${id} HTTP/1.0`, 'Authorization: {token}']);
      expectBook(answer, 200, 'Book retrieved successfully');
    },
    '400 Bad request when the HTTP is malformed': async (service) => {
      const start = [
        'POST /book HTTP/1.1',
        `Host: ${service.host}`,
        'Connection: close',
        'Authorization: {token}',
      ];
      const body = '{"title":"never stored"}';
      for (const lines of [
        ['nonsense'],
        ['GET /books HTTP/9.9', `Host: ${service.host}`],
        ['FETCH /books HTTP/1.1', `Host: ${service.host}`],
        ['GET /books HTTP/1.1', `Host: ${service.host}`, 'no colon'],
        ['GET /books HTTP/1.1', `Host: ${service.host}`, 'Name : space before the colon'],
        ['GET /books HTTP/1.1', `Host: ${service.host}`, 'Name: control \x00 character'],
        [...start, 'Content-Length: many'],
        [...start, 'Content-Length: -1'],
        [...start, `Content-Length: ${body.length}`, 'Content-Length: 1'],
        [...start, `Content-Length: ${body.length}`, 'Transfer-Encoding: chunked'],
      ]) {
        expectNull(await service.exchange(lines, [body]), 400, 'Bad request');
      }
      const badChunk = await service.exchange(
        [...start, 'Transfer-Encoding: chunked'],
        ['zz\r\n{}\r\n0\r\n\r\n'],
      );
      expectNull(badChunk, 400, 'Bad request');
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
      expectBook(await service.get(`/book/${id}`), 200, 'Book retrieved successfully', {
        title: 'The Odyssey',
      });
    },
    '413 Payload too large also reaches a client that reads only after it has sent everything': async (
      service,
    ) => {
      const length = 2 * BODY_BYTES_MAX;
      const body = bookOf(length);
      const pieces = [body.slice(0, 1.5 * BODY_BYTES_MAX), body.slice(1.5 * BODY_BYTES_MAX)];
      const lines = ['Authorization: {token}', `Content-Length: ${length}`];
      expectNull(await exchange(service, 'POST /book', lines, pieces), 413, 'Payload too large');
    },
    'a body of exactly 1 MiB is read': async (service) => {
      const body = bookOf(BODY_BYTES_MAX);
      const { title } = JSON.parse(body) as { title: string };
      const { id } = expectBook(await service.post('/book', body), 201, 'Book created successfully', {
        title,
      });
      expectBook(await service.get(`/book/${id}`), 200, 'Book retrieved successfully', { title });
      expectBook(await service.put(`/book/${id}`, body), 200, 'Book updated successfully', { title });
    },
    '404 Book not found comes before 413': async (service) => {
      const answer = await service.put(`/book/${await service.absentId()}`, bookOf(BODY_BYTES_MAX + 1));
      expectNull(answer, 404, 'Book not found');
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
      const answer = await exchange(service, 'GET /books', ['Authorization: {token}', 'Expect: a miracle']);
      expectNull(answer, 417, 'Expectation failed');
    },
    '431 Request header fields too large': async (service) => {
      const answer = await exchange(service, 'GET /books', [`Cookie: ${'x'.repeat(40_000)}`]);
      expectNull(answer, 431, 'Request header fields too large');
    },
    '401 carries WWW-Authenticate: Token realm="books"': async (service) => {
      const answers = [
        await service.sendWithoutToken('GET', '/books'),
        await service.send('GET', '/books', { headers: { Authorization: 'nonsense' } }),
        await service.login({ username: service.username, password: '' }),
      ];
      for (const answer of answers) {
        expectSame(`${answer.request}: status`, answer.status, 401);
        expectHeader(answer, 'www-authenticate', 'Token realm="books"');
      }
    },
    'Cache-Control is no-store on POST /token': async (service) => {
      expectHeader(await service.login(), 'cache-control', 'no-store');
      expectHeader(await service.login('nonsense'), 'cache-control', 'no-store');
    },
    'Cache-Control is private, no-cache on what a token protects': async (service) => {
      const book = await service.post('/book', '{}');
      const { id } = expectBook(book, 201, 'Book created successfully');
      const answers = [
        book,
        await service.get('/books'),
        await service.get(`/book/${id}`),
        await service.put(`/book/${id}`, '{}'),
        await service.delete(`/book/${id}`),
      ];
      for (const answer of answers) expectHeader(answer, 'cache-control', /^private, ?no-cache$/);
    },
    'a browser of an origin that is not listed gets no CORS headers': async (service) => {
      const headers = { Origin: 'https://nobody-listed-this.invalid' };
      const answer = await service.send('GET', `/book/${await service.absentId()}`, { headers });
      expectOutcome(answer, 404, 'Book not found');
      const allowed = answer.headers.get('access-control-allow-origin');
      expectSame('Access-Control-Allow-Origin', allowed === '*' || allowed === headers.Origin, false);
    },
  },
);

/** A request by hand, its connection closed after the answer. */
function exchange(
  service: Service,
  start: string,
  lines: readonly string[] = [],
  body: readonly string[] = [],
): Promise<Answer> {
  return service.exchange(
    [`${start} HTTP/1.1`, `Host: ${service.host}`, 'Connection: close', ...lines],
    body,
  );
}

function expectText(
  answer: Answer,
  expected: string,
  how: 'equals' | 'startsWith' | 'includes' = 'equals',
): void {
  const holds = how === 'equals' ? answer.body === expected : answer.body[how](expected);
  if (!holds) throw new Mismatch(answer.request, expected, answer.body);
}

/** A readable body of exactly so many bytes. */
function bookOf(bytes: number): string {
  const [start, end] = ['{"title":"', '"}'];
  return `${start}${'x'.repeat(bytes - start.length - end.length)}${end}`;
}
