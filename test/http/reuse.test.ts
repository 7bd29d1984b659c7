import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, assertSuccess } from '../../testkit/assertions.ts';
import { Connection, request } from '../../testkit/connection.ts';
import { type Service, startService, TITLE, WRONG_LOGIN } from '../../testkit/service.ts';

type InvalidRequest = readonly [bytes: string, status: number, message: string];

/** Requests that get an error response, but are well-formed HTTP. */
function invalidRequests({ authorization }: Service): InvalidRequest[] {
  const body = JSON.stringify({ title: TITLE });
  const megabytes = JSON.stringify({ title: TITLE.repeat(400_000) });
  const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const chunked = 'Transfer-Encoding: chunked';
  return [
    [request('POST /token', [], '{'), 400, 'Invalid request payload'],
    [request('POST /token', [], WRONG_LOGIN), 401, 'Invalid credentials'],
    [request('POST /token'), 400, 'Invalid request payload'],
    [request('POST /book', [authorization], '[]'), 400, 'Invalid input'],
    [request('POST /book', [authorization, 'Content-Encoding: gzip'], body), 400, 'Invalid input'],
    [request('POST /book', [], body), 401, 'Authorization token required'],
    [request('POST /book', [chunked]) + chunks, 401, 'Authorization token required'],
    [request('POST /book', ['Authorization: nonsense'], megabytes), 401, 'Invalid token'],
    [request('PUT /book/x', [authorization], body), 404, 'Book not found'],
    [request('PUT /book/x', [authorization, chunked]) + chunks, 404, 'Book not found'],
    [request('PUT /book/1', [authorization], megabytes), 404, 'Book not found'],
    [request('DELETE /book/1', [authorization], body), 404, 'Book not found'],
    [request('GET /book/1', [authorization], body), 404, 'Book not found'],
    [request('GET /books', [], body), 401, 'Authorization token required'],
    [request('POST /nowhere', [], body), 404, 'Not found'],
    [request('PATCH /book/1', [chunked]) + chunks, 405, 'Method not allowed'],
    [request('QUERY /books', [], megabytes), 405, 'Method not allowed'],
  ];
}

test('A connection stays open after an error response to well-formed HTTP, whether or not the body was read', async () => {
  await using service = await startService();
  using connection = await Connection.open(service);
  for (const [bytes, status, message] of invalidRequests(service)) {
    await connection.send(bytes);
    const response = await connection.response();
    assertError(response, status, message);
    assert.notEqual(response.headers.get('connection'), 'close');
    await connection.send(request('GET /books', [service.authorization]));
    assert.deepEqual(assertSuccess(await connection.response(), 200, 'Books retrieved successfully'), []);
  }
});

test('A connection stays open after error responses to pipelined requests', async () => {
  await using service = await startService();
  using connection = await Connection.open(service);
  const requests = invalidRequests(service);
  const sent = connection.send(requests.map(([bytes]) => bytes).join(''));
  for (const [, status, message] of requests) assertError(await connection.response(), status, message);
  await sent;
});
