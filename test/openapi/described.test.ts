import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AskedOnConnection } from './asked.ts';
import { type Answered, type Asked, assertDescribed } from './described.ts';

const FIND: Asked = { method: 'GET', target: '/book/1?x=y' };
const BOOK = { id: 1, title: '', author: '', year: 0 };
const FOUND = answer(200, 'Book retrieved successfully', BOOK, { 'cache-control': 'private, no-cache' });

describe('An answer is held to its operation in /openapi.json', () => {
  test('which may be as it is described', async () => {
    await assertDescribed(FIND, FOUND);
    await assertDescribed({ ...FIND, method: 'HEAD' }, { ...FOUND, body: '' });
    await assertDescribed({ method: 'PATCH', target: '/nowhere' }, answer(404, 'Not found', null));
    await assertDescribed(undefined, answer(408, 'Request timeout', null));
  });

  for (const [what, asked, answered] of [
    ['of another status', FIND, answer(202, 'Book retrieved successfully', BOOK)],
    ['with a message of another operation', FIND, answer(404, 'Not Found', null)],
    ['with a message that no operation has', undefined, answer(408, 'Too late', null)],
    [
      'whose data is of another type',
      FIND,
      { ...FOUND, body: FOUND.body?.replace('"year":0', '"year":"0"') ?? '' },
    ],
    ['without data', FIND, { ...FOUND, body: FOUND.body?.replace('"data"', '"date"') ?? '' }],
    ['without a header that is required', FIND, answer(401, 'Invalid token', null)],
    [
      'with another value of a header',
      FIND,
      answer(200, 'Book retrieved successfully', BOOK, { 'cache-control': 'no-store' }),
    ],
    ['with a header that is not described', FIND, answer(404, 'Book not found', null, { etag: '"1"' })],
    [
      'of another type of content',
      FIND,
      answer(404, 'Book not found', null, { 'content-type': 'text/plain' }),
    ],
  ] as const) {
    test(`and noticed ${what}`, async () => {
      await assert.rejects(assertDescribed(asked, answered), /is not described/);
    });
  }
});

describe('The requests on a connection', () => {
  test('are told apart, as they were sent', () => {
    const asked = new AskedOnConnection();
    asked.note('POST /book HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}GET /bo');
    asked.note(Buffer.from('oks HTTP/1.1\r\nHost: a\r\n\r\n'));
    assert.deepEqual(asked.next(), { method: 'POST', target: '/book' });
    assert.deepEqual(asked.next(), { method: 'GET', target: '/books' });
    assert.equal(asked.next(), undefined);
  });

  test('are unknown behind what cannot be told', () => {
    for (const [bytes, first] of [
      ['good morning\r\n\r\n', undefined],
      ['POST /book HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n', { method: 'POST', target: '/book' }],
    ] as const) {
      const asked = new AskedOnConnection();
      asked.note(bytes);
      assert.deepEqual(asked.next(), first);
      asked.note('GET /books HTTP/1.1\r\nHost: a\r\n\r\n');
      assert.equal(asked.next(), undefined);
    }
  });
});

function answer(
  status: number,
  message: string,
  data: unknown,
  headers: Record<string, string> = {},
): Answered {
  return {
    status,
    headers: new Headers({ 'content-type': 'application/json', 'x-request-id': 'a', ...headers }),
    body: JSON.stringify({ status, message, data }),
  };
}
