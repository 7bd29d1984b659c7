import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tokens } from '../../src/auth/tokens.ts';
import { Secret } from '../../src/secret.ts';
import { SECRET, startService } from '../../testkit/service.ts';

const YEAR = 'year must be an integer from -9007199254740991 to 9007199254740991';
const ID = 'must be an integer from 0 to 9007199254740991';
const TITLE = 'title must be a string, without U+0000 and without lone surrogates';

test('Error-Detail says what is wrong with a request, and the envelope is that of the contract', async () => {
  await using service = await startService({ hasHistory: true });
  await service.fetch('POST', '/book', '{}');
  for (const [method, path, message, detail, body, headers] of [
    ['POST', '/book', 'Invalid input', YEAR, '{"year":"1999"}'],
    ['POST', '/book', 'Invalid input', YEAR, '{"YEAR":1.5}'],
    ['POST', '/book', 'Invalid input', TITLE, '{"Title":null}'],
    ['POST', '/book', 'Invalid input', 'empty, compressed or not JSON', ''],
    ['POST', '/book', 'Invalid input', 'empty, compressed or not JSON', "{'title':'Emma'}"],
    ['POST', '/book', 'Invalid input', 'empty, compressed or not JSON', '{}', { 'Content-Encoding': 'gzip' }],
    ['POST', '/book', 'Invalid input', 'not a JSON object', '[]'],
    ['POST', '/book', 'Invalid input', 'nested deeper than 64', '['.repeat(200)],
    ['PUT', '/book/1', 'Invalid input', YEAR, '{"year":null}'],
    ['PUT', '/book/2', 'Book not found', null, '{"year":null}'],
    ['POST', '/books', 'Invalid input', YEAR, '[{},{"year":1e99}]'],
    ['POST', '/books', 'Invalid input', 'not a JSON object', '[{},1]'],
    ['POST', '/books', 'Invalid input', 'empty, compressed or not a JSON array', '{}'],
    ['POST', '/books', 'Invalid input', 'the array is not valid JSON from this book on', '[{},'],
    ['PATCH', '/books', 'Invalid input', 'id must be a number, without quotes', '[{"id":"1"}]'],
    ['PATCH', '/books', 'Invalid input', `id ${ID}`, '[{"id":-1}]'],
    ['PATCH', '/books', 'Invalid input', `id ${ID}`, '[{"ID":1.5}]'],
    ['PATCH', '/books', 'Invalid input', `id ${ID}`, '[{"id":null}]'],
    ['PATCH', '/books', 'Invalid input', `id ${ID}`, '[{"year":1}]'],
    ['PATCH', '/books', 'Invalid input', YEAR, '[{"id":1,"year":"1999"}]'],
    ['POST', '/books/restore', 'Invalid input', 'an id must be a number, without quotes', '["1"]'],
    ['POST', '/books/restore', 'Invalid input', `an id ${ID}`, '[1e99]'],
    ['POST', '/token', 'Invalid request payload', 'not a JSON object', '"admin"'],
    ['POST', '/token', 'Invalid request payload', 'scope must be "read" or absent', '{"scope":"write"}'],
    ['GET', '/books?limit=0', 'Invalid query', 'limit must be an integer from 1 to 1000'],
    ['GET', '/books?count=yes', 'Invalid query', 'count must be true or false'],
    ['GET', '/books?sort=isbn', 'Invalid query', /^sort must be one of id, -id, title, /],
    ['GET', '/books?after=x', 'Invalid query', 'after must be a cursor of sort=id'],
    ['GET', '/changes?after=x', 'Invalid query', 'after must be the cursor of a change'],
    ['GET', '/changes?after=99999999-x', 'Invalid query', 'after is the cursor of another store'],
    ['GET', '/books', 'Invalid token', null, undefined, { Authorization: 'x' }],
    [
      'GET',
      '/books',
      'Invalid token',
      'send the token alone, without Bearer',
      undefined,
      { Authorization: `Bearer ${service.token}` },
    ],
  ] as const) {
    const response = await service.fetch(method, path, body, headers);
    const what = `${method} ${path} ${body}`;
    assert.deepEqual(await response.json(), { status: response.status, message, data: null }, what);
    const sent = response.headers.get('error-detail');
    if (detail instanceof RegExp) assert.match(sent ?? '', detail, what);
    else assert.equal(sent, detail, what);
  }
});

test('Error-Detail tells an expired token from one of another secret, and says nothing else of a signature', async () => {
  await using service = await startService();
  for (const [token, detail] of [
    [issue(SECRET, -1), 'the token has expired'],
    [issue('another secret', 900), 'the token is signed with another secret'],
    [issue('another secret', -1), 'the token is signed with another secret'],
    [`${service.token}.`, null],
  ] as const) {
    const response = await service.fetch('GET', '/books', undefined, { Authorization: token });
    assert.deepEqual(await response.json(), { status: 401, message: 'Invalid token', data: null });
    assert.equal(response.headers.get('error-detail'), detail);
  }
});

function issue(secret: string, seconds: number): string {
  return new Tokens(new Secret(secret), Date.now).issue(seconds);
}
