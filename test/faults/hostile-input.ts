import * as fc from 'fast-check';
import { BODIES, IDS, LARGE_BODIES, LITERALS, NAMES, TOKENS } from './hostile-corpus.ts';

/** A request that nobody sends who means well. */
export interface HostileRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** What `Authorization` says; undefined stands for a good token. */
  readonly token: string | undefined;
  readonly body: Uint8Array;
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

/** Objects with a few bytes changed, added or taken away. */
const damaged = fc
  .tuple(objects, fc.nat(), fc.uint8Array({ maxLength: 3 }), fc.nat({ max: 3 }))
  .map(([text, position, inserted, removed]) => {
    const bytes = Buffer.from(text);
    const at = position % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + removed)]);
  });

const bodies = fc
  .oneof(
    { weight: 120, arbitrary: objects },
    { weight: 20, arbitrary: damaged },
    { weight: 20, arbitrary: fc.constantFrom(...BODIES) },
    { weight: 6, arbitrary: fc.json() },
    { weight: 4, arbitrary: fc.uint8Array({ maxLength: 64 }) },
    { weight: 1, arbitrary: fc.constantFrom(...LARGE_BODIES) },
  )
  .map((body) => (typeof body === 'string' ? Buffer.from(body) : body));

const tokens = fc.oneof(
  { weight: 15, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom(...TOKENS) },
);

const paths = fc
  .oneof(
    { weight: 4, arbitrary: fc.integer({ min: 1, max: 60 }).map(String) },
    { weight: 1, arbitrary: fc.constantFrom(...IDS) },
  )
  .map((id) => `/book/${id}`);

/** Requests for every endpoint, most of them for those that read a body. */
export const hostileRequests: fc.Arbitrary<HostileRequest> = fc.oneof(
  { weight: 8, arbitrary: requests('POST', fc.constant('/book'), bodies) },
  { weight: 6, arbitrary: requests('PUT', paths, bodies) },
  { weight: 2, arbitrary: requests('POST', fc.constant('/token'), bodies) },
  { weight: 2, arbitrary: requests('GET', paths) },
  { weight: 2, arbitrary: requests('DELETE', paths) },
);

function requests(
  method: HostileRequest['method'],
  path: fc.Arbitrary<string>,
  body: fc.Arbitrary<Uint8Array> = fc.constant(new Uint8Array()),
): fc.Arbitrary<HostileRequest> {
  return fc.record({ method: fc.constant(method), path, token: tokens, body });
}
