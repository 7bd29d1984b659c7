import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BodyRequest } from './body/body-reader.ts';
import { closeAfter } from './connections/connection-state.ts';
import { envelope, envelopeAround, type OutcomeName, outcomes } from './outcomes.ts';

/** The result of a handler, from which {@link send} makes the response. */
export interface HttpResult {
  readonly outcome: OutcomeName;
  /** The `data` of the envelope; null when absent. */
  readonly data?: unknown;
  /** The `data` as JSON in UTF-8, instead: in chunks, or as a stream. */
  readonly json?: readonly Uint8Array[] | AsyncIterable<Uint8Array>;
  readonly headers?: Headers;
  /** What is wrong with the request, in ASCII; sent as `Error-Detail`. */
  readonly detail?: string | undefined;
}

type Headers = Readonly<Record<string, string>>;

const COMMON_HEADERS: Headers = {
  'content-type': 'application/json; charset=utf-8',
  'x-content-type-options': 'nosniff',
};

/** The headers of a status (RFC 9110, sections 10.2.3 and 11.6.1). The scheme is not Bearer: no prefix is sent. */
export const STATUS_HEADERS: Readonly<Record<number, Headers>> = {
  401: { 'www-authenticate': 'Token realm="books"' },
  503: { 'retry-after': '1' },
};

/** `Cache-Control` (RFC 9111, section 5.2.2): protected responses may be kept by their client, which revalidates them. */
export const CACHE_CONTROL = { unprotected: 'no-store', protected: 'private, no-cache' } as const;

/** Makes a hook of routes, which sets `Cache-Control` for all their responses, also for errors. */
export function cacheControl(value: string) {
  return (_request: FastifyRequest, reply: FastifyReply, pass: () => void): void => {
    reply.header('cache-control', value);
    pass();
  };
}

/** Outcomes after which the connection is closed, as the rest of the request is malformed or not read. */
const CLOSING_OUTCOMES: ReadonlySet<OutcomeName> = new Set([
  'badRequest',
  'requestTimeout',
  'payloadTooLarge',
  'expectationFailed',
]);

export const OUTCOME_HEADERS = Object.fromEntries(
  Object.entries(outcomes).map(([name, { status }]) => [
    name,
    { ...COMMON_HEADERS, ...STATUS_HEADERS[status] },
  ]),
) as Readonly<Record<OutcomeName, Headers>>;

/** A stream that keeps no bytes back: when its source is asked for more, the response was given all before. */
const STREAM = { objectMode: false, highWaterMark: 1 };

/** Makes a route's handler from a function that returns a result. */
export function respondWith(handle: (request: BodyRequest, reply: FastifyReply) => Promise<HttpResult>) {
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const handled = handle(request as BodyRequest, reply);
    request.expectedBody?.keepUntil(handled);
    handled.then((result) => send(reply, result)).catch((error: unknown) => reply.send(error));
  };
}

/** Sends a result: its status, headers and body. `data` is rendered, `json` is a body or a stream of one. */
export function send(
  reply: FastifyReply,
  { outcome, data = null, json, headers, detail }: HttpResult,
): FastifyReply {
  reply.code(outcomes[outcome].status).headers(OUTCOME_HEADERS[outcome]);
  if (headers) reply.headers(headers);
  if (detail !== undefined) reply.header('error-detail', detail);
  if (outcome === 'notModified') {
    // A 304 has no content (RFC 9110, section 15.4.5) and no Content-Length: for HEAD, Fastify would send 0.
    reply.removeHeader('content-type');
    return reply.request.method === 'HEAD' ? reply.send(Readable.from([])) : reply.send();
  }
  if (CLOSING_OUTCOMES.has(outcome)) closeAfter(reply);
  if (outcome === 'payloadTooLarge') return sendWhileDraining(reply);
  if (json === undefined) return reply.send(envelope(outcome, data));
  const [prefix, suffix] = envelopeAround(outcome);
  return reply.send(
    Symbol.iterator in json
      ? Buffer.concat([prefix, ...json, suffix])
      : Readable.from(inEnvelope(prefix, json, suffix), STREAM),
  );
}

async function* inEnvelope(
  prefix: Uint8Array,
  json: AsyncIterable<Uint8Array>,
  suffix: Uint8Array,
): AsyncGenerator<Uint8Array> {
  yield prefix;
  yield* json;
  yield suffix;
}

/** Sends the response immediately, but keeps the connection open while the client is still sending. */
function sendWhileDraining(reply: FastifyReply): FastifyReply {
  const body = JSON.stringify(envelope('payloadTooLarge', null));
  async function* responseThenDrain(): AsyncGenerator<string> {
    yield body;
    await reply.request.expectedBody?.discard();
  }
  return reply.header('content-length', Buffer.byteLength(body)).send(Readable.from(responseThenDrain()));
}
