import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertError, assertSuccess } from '../../testkit/assertions.ts';
import { Connection, request } from '../../testkit/connection.ts';
import { engines } from '../../testkit/engines.ts';
import { type Service, shareService, TITLE } from '../../testkit/service.ts';

const BODY = JSON.stringify({ title: TITLE, year: 1946 });
const ROUNDS = 20;
const WRITERS = 32;

for (const { name: engine } of engines) {
  describe(`Conditional requests (RFC 9110, section 13) on ${engine}`, () => {
    const sharedService = shareService({ engine });

    test('every response with a book has its strong ETag, which changes only with the book', async () => {
      const service = await sharedService();
      const created = await service.fetch('POST', '/book', BODY);
      const path = `/book/${await idIn(created)}`;
      const tag = tagOf(created);

      for (const [method, body] of [['GET'], ['HEAD'], ['PUT', '{}'], ['PUT', '{"year":1946}']] as const)
        assert.equal(tagOf(await service.fetch(method, path, body)), tag);
      const tags = new Set([tag]);
      for (const body of [
        '{"year":1947}',
        '{"title":"Gormenghast"}',
        '{"title":"Gormenghast!"}',
        '{"author":"Gormenghast"}',
        '{"author":"Gormenghast!"}',
        '{"author":"Gormenghast","title":""}',
      ]) {
        const updated = tagOf(await service.fetch('PUT', path, body));
        assert.equal(tagOf(await service.fetch('GET', path)), updated);
        tags.add(updated);
      }
      tags.add(tagOf(await service.fetch('POST', '/book', BODY)));
      assert.equal(tags.size, 8);
    });

    test('the ETag changes when text moves from one field to another', async () => {
      const service = await sharedService();
      const path = await createBook(service);
      const tags = new Set<string>();
      for (const changes of [
        { title: 'ab', author: 'c' },
        { title: 'a', author: 'bc' },
        { title: 'abc', author: '' },
      ])
        tags.add(tagOf(await service.fetch('PUT', path, JSON.stringify(changes))));
      assert.equal(tags.size, 3);
    });

    test('GET and HEAD with If-None-Match get 304 without content when the tag is listed', async () => {
      const service = await sharedService();
      const path = await createBook(service);
      const tag = tagOf(await service.fetch('GET', path));
      using connection = await Connection.open(service);

      for (const method of ['GET', 'HEAD']) {
        for (const value of [tag, `W/${tag}`, '*', ` "another" , W/"one,${tag}",${tag}`]) {
          await connection.send(
            request(`${method} ${path}`, [service.authorization, `If-None-Match: ${value}`]),
          );
          const response = await connection.response(true);
          assert.equal(response.status, 304, value);
          assert.equal(response.headers.get('etag'), tag);
          assert.equal(response.headers.get('cache-control'), 'private, no-cache');
          assert.equal(response.headers.get('content-type'), null);
          assert.equal(response.headers.get('content-length'), null);
        }
        for (const value of ['"another"', tag.slice(0, -1), tag.replaceAll('"', ''), `"${tag}`, '']) {
          await connection.send(
            request(`${method} ${path}`, [service.authorization, `If-None-Match: ${value}`]),
          );
          const response = await connection.response(method === 'HEAD');
          assert.equal(response.status, 200, value);
          assert.equal(response.headers.get('etag'), tag);
        }
      }
      await connection.send(request('GET /book/999', [service.authorization, 'If-None-Match: *']));
      assertError(await connection.response(), 404, 'Book not found');
    });

    test('PUT and DELETE with If-Match get 412 and change nothing when the tag is not listed', async () => {
      const service = await sharedService();
      const path = await createBook(service);
      const first = tagOf(await service.fetch('GET', path));
      const second = tagOf(await service.fetch('PUT', path, '{"year":1}', { 'if-match': first }));
      using connection = await Connection.open(service);

      for (const method of ['PUT', 'DELETE', 'GET']) {
        for (const line of [
          `If-Match: ${first}`,
          `If-Match: W/${second}`,
          'If-Match: "another"',
          'If-Match: nonsense',
          'If-Match: ',
          ...(method === 'GET' ? [] : ['If-None-Match: *', `If-None-Match: W/${second}`]),
        ]) {
          await connection.send(request(`${method} ${path}`, [service.authorization, line], '{"year":2}'));
          assertError(await connection.response(), 412, 'Precondition failed');
        }
      }
      assert.equal(tagOf(await service.fetch('GET', path)), second);

      for (const [value, message] of [
        ['*', 'Book updated successfully'],
        [`"another", ${tagOf(await service.fetch('GET', path))}`, 'Book updated successfully'],
      ] as const) {
        await connection.send(request(`PUT ${path}`, [service.authorization, `If-Match: ${value}`], '{}'));
        assertSuccess(await connection.response(), 200, message);
      }
      await connection.send(request(`DELETE ${path}`, [service.authorization, `If-Match: ${second}`]));
      assertSuccess(await connection.response(), 200, 'Book deleted successfully');
    });

    test('the checks run in the order 401, 404, 400, 412', async () => {
      const service = await sharedService();
      const path = await createBook(service);
      const { authorization } = service;
      using connection = await Connection.open(service);
      for (const [start, lines, body, status, message] of [
        [`PUT ${path}`, [], '{}', 401, 'Authorization token required'],
        ['PUT /book/999', [authorization], 'no JSON', 404, 'Book not found'],
        ['DELETE /book/999', [authorization], '', 404, 'Book not found'],
        ['DELETE /book/x', [authorization], '', 404, 'Book not found'],
        [`PUT ${path}`, [authorization], 'no JSON', 400, 'Invalid input'],
        [`PUT ${path}`, [authorization], '{}', 412, 'Precondition failed'],
      ] as const) {
        await connection.send(request(start, [...lines, 'If-Match: "another"'], body));
        assertError(await connection.response(), status, message);
      }
    });

    test(`of ${WRITERS} concurrent writers with one tag exactly one succeeds`, async () => {
      const service = await sharedService();
      const path = await createBook(service);
      for (let round = 0; round < ROUNDS; round++) {
        const tag = tagOf(await service.fetch('GET', path));
        const responses = await Promise.all(
          Array.from({ length: WRITERS }, (_, writer) =>
            service.fetch('PUT', path, JSON.stringify({ year: WRITERS * round + writer }), {
              'if-match': tag,
            }),
          ),
        );
        const statuses = responses.map(({ status }) => status);
        assert.equal(statuses.filter((status) => status === 200).length, 1);
        assert.equal(statuses.filter((status) => status === 412).length, WRITERS - 1);
        const winner = responses.find(({ status }) => status === 200);
        assert.ok(winner);
        assert.equal(tagOf(await service.fetch('GET', path)), tagOf(winner));
      }
    });

    test('all concurrent writers with If-Match: * succeed', async () => {
      const service = await sharedService();
      const path = await createBook(service);
      const responses = await Promise.all(
        Array.from({ length: WRITERS }, (_, writer) =>
          service.fetch('PUT', path, JSON.stringify({ year: writer }), { 'if-match': '*' }),
        ),
      );
      assert.ok(responses.every(({ status }) => status === 200));
    });
  });
}

function tagOf(response: Response): string {
  const tag = response.headers.get('etag') ?? '';
  assert.match(tag, /^"[\w-]+"$/);
  return tag;
}

async function idIn(response: Response): Promise<number> {
  const { data } = (await response.json()) as { data: { id: number } };
  return data.id;
}

async function createBook(service: Service): Promise<string> {
  return `/book/${await idIn(await service.fetch('POST', '/book', BODY))}`;
}
