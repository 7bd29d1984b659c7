import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertError, assertSuccess } from '../../testkit/assertions.ts';
import { Connection, request } from '../../testkit/connection.ts';
import { engines } from '../../testkit/engines.ts';
import { type Service, startService, TITLE } from '../../testkit/service.ts';

const BODY = JSON.stringify({ title: TITLE, author: 'Mervyn Peake', year: 1946 });
const CREATED = 'Book created successfully';

for (const engine of engines) {
  describe(`Idempotency-Key on POST /book on ${engine.name}`, () => {
    test('a retry gets the first response, byte for byte, and creates nothing', async () => {
      await using service = await startService({ engine: engine.name });
      using connection = await Connection.open(service);
      const first = await create(service, connection, '"8e03978e-40d5-43e8-bc93-6894a57f9324"', BODY);
      // The same book in another notation.
      const equivalent = '{"year":1946.0, "id":7, "Title":"Titus Groan", "author":"Mervyn Peake"}';
      for (const body of [BODY, equivalent]) {
        const again = await create(service, connection, '8e03978e-40d5-43e8-bc93-6894a57f9324', body);
        assert.equal(again.body, first.body);
        assert.equal(again.headers.get('etag'), first.headers.get('etag'));
        assertSuccess(again, 201, CREATED);
      }
      assert.equal(await countBooks(service), 1);
    });

    test('another book with the same key gets 422', async () => {
      await using service = await startService({ engine: engine.name });
      using connection = await Connection.open(service);
      assertSuccess(await create(service, connection, 'abc', BODY), 201, CREATED);
      assertError(await create(service, connection, 'abc', '{}'), 422, 'Idempotency key reused');
      assertError(await create(service, connection, '"abc"', '{}'), 422, 'Idempotency key reused');
      assert.equal(await countBooks(service), 1);
    });

    test('a request with an error response does not use its key', async () => {
      await using service = await startService({ engine: engine.name });
      using connection = await Connection.open(service);
      assertError(await create(service, connection, 'abc', 'no JSON'), 400, 'Invalid input');
      assertSuccess(await create(service, connection, 'abc', BODY), 201, CREATED);
    });

    test('concurrent requests with one key create one book, and all get it', async () => {
      await using service = await startService({ engine: engine.name });
      const headers = { 'idempotency-key': '"at once"' };
      const responses = await Promise.all(
        Array.from({ length: 50 }, () => service.fetch('POST', '/book', BODY, headers)),
      );
      assert.equal(new Set(await Promise.all(responses.map((response) => response.text()))).size, 1);
      assert.ok(responses.every(({ status }) => status === 201));
      assert.equal(await countBooks(service), 1);
    });

    test('a key is valid in another process, and after a restart', async () => {
      await using address = await engine.createAddress();
      const { dbUrl } = address;
      await using one = await startService({ dbUrl });
      const headers = { 'idempotency-key': 'abc' };
      const first = await (await one.fetch('POST', '/book', BODY, headers)).text();
      for (let start = 0; start < 2; start++) {
        await using another = await startService({ dbUrl });
        assert.equal(await (await another.fetch('POST', '/book', BODY, headers)).text(), first);
        assert.equal(await countBooks(another), 1);
      }
    });
  });
}

test('An invalid Idempotency-Key gets 400, after the check of the token and before that of the body', async () => {
  await using service = await startService();
  using connection = await Connection.open(service);
  const invalid = [
    '',
    '""',
    '"',
    '"abc',
    'abc"',
    'a b',
    'a,b',
    '"a", "b"',
    '"a";b=1',
    '"\\x"',
    'ä',
    'x'.repeat(256),
  ];
  for (const key of invalid) {
    for (const body of [BODY, 'no JSON'])
      assertError(await create(service, connection, key, body), 400, 'Invalid idempotency key');
  }
  const twice = ['Idempotency-Key: a', 'Idempotency-Key: a'];
  await connection.send(request('POST /book', [service.authorization, ...twice], BODY));
  assertError(await connection.response(), 400, 'Invalid idempotency key');
  await connection.send(request('POST /book', ['Idempotency-Key: a,b'], BODY));
  assertError(await connection.response(), 401, 'Authorization token required');
  assert.equal(await countBooks(service), 0);

  for (const key of ['"a b, \\"c\\" \\\\"', 'x'.repeat(255), 'a:b/c=d;e', "it's"])
    assertSuccess(await create(service, connection, key, BODY), 201, CREATED);
  assert.equal(await countBooks(service), 4);
});

test('Without an Idempotency-Key, each of several equal requests creates a book', async () => {
  await using service = await startService();
  for (let time = 0; time < 2; time++) await service.fetch('POST', '/book', BODY);
  assert.equal(await countBooks(service), 2);
});

async function create(service: Service, connection: Connection, key: string, body: string) {
  await connection.send(request('POST /book', [service.authorization, `Idempotency-Key: ${key}`], body));
  return await connection.response();
}

async function countBooks(service: Service): Promise<number> {
  const { data } = (await (await service.fetch('GET', '/books')).json()) as { data: unknown[] };
  return data.length;
}
