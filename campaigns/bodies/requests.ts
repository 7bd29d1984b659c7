import * as fc from 'fast-check';
import { BODIES, IDS, LARGE_BODIES, LITERALS, NAMES, TOKENS } from './corpus.ts';
import { type Search, searches } from './searches.ts';

/** A request that may be malformed in any part. */
export interface HostileRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** The value of `Authorization`; undefined stands for a valid token. */
  readonly token: string | undefined;
  /** Header lines other than those of the token and the framing. */
  readonly lines: readonly string[];
  readonly body: Uint8Array;
  /** Whether the body is sent with chunked transfer coding. */
  readonly isChunked: boolean;
  /** Present for a `GET /books`. */
  readonly query?: Search['query'];
}

const literals = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...LITERALS) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)) },
  { weight: 2, arbitrary: fc.maxSafeInteger().map(String) },
  { weight: 1, arbitrary: fc.double().map(String) },
  { weight: 1, arbitrary: fc.json() },
);

const members = fc
  .tuple(fc.constantFrom(...NAMES), literals)
  .map(([name, literal]) => `"${name}":${literal}`);
const objects = fc.array(members, { maxLength: 6 }).map((all) => `{${all.join(',')}}`);

/** Bodies with a few bytes changed, inserted or removed, in several places. */
const damaged = fc
  .tuple(
    fc.oneof(
      objects.map(bytesOf),
      fc.constantFrom(...BODIES.map(bytesOf)).filter(({ length }) => length < 1_000),
    ),
    fc.array(fc.tuple(fc.nat(), fc.uint8Array({ maxLength: 3 }), fc.nat({ max: 3 })), {
      minLength: 1,
      maxLength: 4,
    }),
  )
  .map(([body, damages]) =>
    damages.reduce((bytes, [position, inserted, removed]) => {
      const at = position % (bytes.length + 1);
      return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + removed)]);
    }, body),
  );

const bodies = fc.oneof(
  { weight: 360, arbitrary: objects.map(bytesOf) },
  { weight: 120, arbitrary: damaged },
  { weight: 60, arbitrary: fc.constantFrom(...BODIES).map(bytesOf) },
  { weight: 18, arbitrary: fc.json().map(bytesOf) },
  { weight: 30, arbitrary: fc.uint8Array({ maxLength: 300 }) },
  { weight: 1, arbitrary: fc.constantFrom(...LARGE_BODIES).map(bytesOf) },
);

const tokens = fc.oneof(
  { weight: 15, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom(...TOKENS) },
);

const lines = fc.oneof(
  { weight: 10, arbitrary: fc.constant([]) },
  {
    weight: 1,
    arbitrary: fc.subarray([
      'Content-Type: application/xml; charset=utf-16',
      'Content-Encoding: identity',
      'Content-Language: \xff',
      '__proto__: application/json',
    ]),
  },
  { weight: 1, arbitrary: fc.constantFrom(['Content-Encoding: gzip'], ['Content-Encoding: identity, br']) },
);

const paths = fc
  .oneof(
    { weight: 4, arbitrary: fc.integer({ min: 1, max: 60 }).map(String) },
    { weight: 1, arbitrary: fc.constantFrom(...IDS) },
  )
  .map((id) => `/book/${id}`);

/** Requests to every endpoint, most of them to those that read a body. */
export const hostileRequests: fc.Arbitrary<HostileRequest> = fc.oneof(
  { weight: 8, arbitrary: requests('POST', fc.constant('/book'), bodies) },
  { weight: 6, arbitrary: requests('PUT', paths, bodies) },
  { weight: 2, arbitrary: requests('POST', fc.constant('/token'), bodies) },
  { weight: 2, arbitrary: requests('GET', paths) },
  { weight: 2, arbitrary: requests('DELETE', paths) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(requests('GET', fc.constant('/books')), searches)
      .map(([request, search]) => ({ ...request, ...search })),
  },
);

/** The bytes of a request, with this token unless the request has one of its own. */
export function render(
  { method, path, token, lines: others, body, isChunked }: HostileRequest,
  validToken: string,
): Buffer {
  const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: ${token ?? validToken}`,
    framing,
    ...others,
  ];
  const start = Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1');
  if (!isChunked) return Buffer.concat([start, body]);
  const chunk =
    body.length === 0 ? [] : [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')];
  return Buffer.concat([start, ...chunk, Buffer.from('0\r\n\r\n')]);
}

function requests(
  method: HostileRequest['method'],
  path: fc.Arbitrary<string>,
  body: fc.Arbitrary<Uint8Array> = fc.constant(new Uint8Array()),
): fc.Arbitrary<HostileRequest> {
  return fc.record({
    method: fc.constant(method),
    path,
    token: tokens,
    lines,
    body,
    isChunked: fc.boolean(),
  });
}

function bytesOf(body: string | Uint8Array): Buffer {
  return Buffer.from(body);
}
