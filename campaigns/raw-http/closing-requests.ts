import assert from 'node:assert/strict';
import { assertError } from '../../testkit/assertions.ts';
import { request } from '../../testkit/connection.ts';
import { BAD_CHUNKS, MALFORMED } from '../../testkit/malformed.ts';
import { LOGIN } from '../../testkit/service.ts';
import { type Exchange, hasToken } from './exchanges.ts';

/** Requests after which the service closes the connection, by name: it ignores what follows. */
export function closingRequests(authorization: string): ReadonlyMap<string, Exchange> {
  const malformed = Object.entries(MALFORMED).map(([name, bytes]): [string, Exchange] => [
    name,
    rejected(bytes, 400, 'Bad request'),
  ]);
  const starts = ['POST /token', 'POST /book', 'PUT /book/1'];
  const badChunks = Object.entries(BAD_CHUNKS).flatMap(([name, chunks]) =>
    starts.map((start): [string, Exchange] => {
      const head = request(start, [authorization, 'Transfer-Encoding: chunked']);
      return [`${start} in chunks: ${name}`, rejected(head + chunks, 400, 'Bad request')];
    }),
  );
  return new Map([
    ...malformed,
    ...badChunks,
    [
      'headers that are too large',
      rejected(request('GET /books', [`Name: ${'x'.repeat(17_000)}`]), 431, TOO_LARGE),
    ],
    ['headers that are too many', rejected(request('GET /books', FLOOD), 431, TOO_LARGE)],
    [
      'an unknown expectation',
      rejected(request('POST /book', [authorization, 'Expect: x'], '{}'), 417, 'Expectation failed'),
    ],
    [
      'an expectation without a token',
      rejected(request('POST /book', ['Expect: 100-continue'], '{}'), 401, 'Authorization token required'),
    ],
    [
      'a body that is too long',
      rejected(request('POST /book', [authorization, 'Content-Length: 1048577']), 413, 'Payload too large'),
    ],
    ['CONNECT', rejected(request('CONNECT elsewhere:443'), 404, 'Not found')],
    ['CONNECT with a body', rejected(request('CONNECT elsewhere:443', [], 'body'), 404, 'Not found')],
    ['CONNECT to a path', rejected(request('CONNECT /books'), 405, 'Method not allowed')],
    ['Connection: close', { bytes: request('POST /token', ['Connection: close'], LOGIN), check: hasToken }],
    ['another protocol', { bytes: request('POST /token', UPGRADE, LOGIN), check: hasToken }],
    ['HTTP/1.0', { bytes: request('POST /token', [], LOGIN).replace('/1.1', '/1.0'), check: hasToken }],
  ]);
}

const UPGRADE = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'];

const TOO_LARGE = 'Request header fields too large';

/** Names of members of objects. */
const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'host-', 'x'];

const FLOOD = Array.from({ length: 3_000 }, (_, index) => `${NAMES[index % NAMES.length]}: ${index}`);

function rejected(bytes: string, status: number, message: string): Exchange {
  return {
    bytes,
    check(response) {
      assertError(response, status, message);
      assert.equal(response.headers.get('connection'), 'close');
    },
  };
}
