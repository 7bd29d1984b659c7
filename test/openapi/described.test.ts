import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertDescribed, type ReceivedResponse, type SentRequest } from '../../testkit/described.ts';
import { SentRequests } from '../../testkit/sent-requests.ts';

const FIND: SentRequest = { method: 'GET', target: '/book/1?x=y' };
const BOOK = { id: 1, title: '', author: '', year: 0 };
const FOUND = response(200, 'Book retrieved successfully', BOOK, { 'cache-control': 'private, no-cache' });

describe('The assertion that /openapi.json describes a response', () => {
  test('accepts described responses', async () => {
    await assertDescribed(FIND, FOUND);
    await assertDescribed({ ...FIND, method: 'HEAD' }, { ...FOUND, body: '' });
    await assertDescribed({ method: 'PATCH', target: '/nowhere' }, response(404, 'Not found', null));
    await assertDescribed(undefined, response(408, 'Request timeout', null));
  });

  for (const [what, asked, answered] of [
    ['with another status', FIND, response(202, 'Book retrieved successfully', BOOK)],
    ['with a message of another operation', FIND, response(404, 'Not Found', null)],
    ['with a message that no operation has', undefined, response(408, 'Too late', null)],
    [
      'whose data is of another type',
      FIND,
      { ...FOUND, body: FOUND.body?.replace('"year":0', '"year":"0"') ?? '' },
    ],
    ['without data', FIND, { ...FOUND, body: FOUND.body?.replace('"data"', '"date"') ?? '' }],
    ['without a header that is required', FIND, response(401, 'Invalid token', null)],
    [
      'with another value of a header',
      FIND,
      response(200, 'Book retrieved successfully', BOOK, { 'cache-control': 'no-store' }),
    ],
    ['with a header that is not described', FIND, response(404, 'Book not found', null, { etag: '"1"' })],
    [
      'with another content type',
      FIND,
      response(404, 'Book not found', null, { 'content-type': 'text/plain' }),
    ],
  ] as const) {
    test(`rejects a response ${what}`, async () => {
      await assert.rejects(assertDescribed(asked, answered), /is not described/);
    });
  }
});

describe('The requests sent on a connection', () => {
  test('are parsed in order', () => {
    const asked = new SentRequests();
    asked.add('POST /book HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}GET /bo');
    asked.add(Buffer.from('oks HTTP/1.1\r\nHost: a\r\n\r\n'));
    assert.deepEqual(asked.next(), { method: 'POST', target: '/book' });
    assert.deepEqual(asked.next(), { method: 'GET', target: '/books' });
    assert.equal(asked.next(), undefined);
  });

  test('are unknown after one that cannot be parsed', () => {
    for (const [bytes, first] of [
      ['good morning\r\n\r\n', undefined],
      ['POST /book HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n', { method: 'POST', target: '/book' }],
    ] as const) {
      const asked = new SentRequests();
      asked.add(bytes);
      assert.deepEqual(asked.next(), first);
      asked.add('GET /books HTTP/1.1\r\nHost: a\r\n\r\n');
      assert.equal(asked.next(), undefined);
    }
  });
});

function response(
  status: number,
  message: string,
  data: unknown,
  headers: Record<string, string> = {},
): ReceivedResponse {
  return {
    status,
    headers: new Headers({ 'content-type': 'application/json', 'x-request-id': 'a', ...headers }),
    body: JSON.stringify({ status, message, data }),
  };
}
