import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { drain } from './body/body-reader.ts';
import { takeNoMore } from './connections/connection-state.ts';
import { envelope, envelopeAround, type OutcomeName, outcomes } from './outcomes.ts';

/** What a handler makes of a request. */
export interface Answer {
  readonly outcome: OutcomeName;
  /** The `data` of the envelope; null when absent. */
  readonly data?: unknown;
  /** The `data` as JSON in UTF-8, in parts: all of them, or as they come. */
  readonly json?: readonly Uint8Array[] | AsyncIterable<Uint8Array>;
  /** What this answer carries beyond the headers of its outcome. */
  readonly headers?: Headers;
}

type Headers = Readonly<Record<string, string>>;

/** What every answer carries. */
const COMMON_HEADERS: Headers = {
  'content-type': 'application/json; charset=utf-8',
  'x-content-type-options': 'nosniff',
};

/** What a status brings along (RFC 9110, sections 10.2.3 and 11.6.1). The scheme is not Bearer: no prefix is sent. */
export const STATUS_HEADERS: Readonly<Record<number, Headers>> = {
  401: { 'www-authenticate': 'Token realm="books"' },
  503: { 'retry-after': '1' },
};

/**
 * Who may keep an answer (RFC 9111, section 5.2.2): nobody a token, or how the service is; its client what a token
 * protects, asking again.
 */
export const CACHE_CONTROL = { withoutToken: 'no-store', behindToken: 'private, no-cache' } as const;

/** After these the rest of the connection cannot be trusted, or is not worth reading. */
const LAST_ON_CONNECTION: ReadonlySet<OutcomeName> = new Set([
  'badRequest',
  'requestTimeout',
  'payloadTooLarge',
  'expectationFailed',
]);

const HEADERS = Object.fromEntries(
  Object.entries(outcomes).map(([name, { status }]) => [
    name,
    { ...COMMON_HEADERS, ...STATUS_HEADERS[status] },
  ]),
) as Readonly<Record<OutcomeName, Headers>>;

/** The headers that an outcome has wherever it is answered. */
export function headersOf(name: OutcomeName): Headers {
  return HEADERS[name];
}

/** Puts an answer into the envelope and sends it. */
export function send(reply: FastifyReply, { outcome, data = null, json, headers }: Answer): FastifyReply {
  reply.code(outcomes[outcome].status).headers(headersOf(outcome));
  if (headers) reply.headers(headers);
  if (outcome === 'notModified') return sendNothing(reply);
  if (LAST_ON_CONNECTION.has(outcome)) endWith(reply);
  if (outcome === 'payloadTooLarge') return sendWhileDraining(reply);
  if (json === undefined) return reply.send(envelope(outcome, data));
  const [before, behind] = envelopeAround(outcome);
  return reply.send(
    Symbol.iterator in json
      ? Buffer.concat([before, ...json, behind])
      : Readable.from(wrapped(before, json, behind), { objectMode: false }),
  );
}

/** Makes an answer that is not sent yet the last one on its connection. */
export function endWith(reply: FastifyReply): void {
  reply.header('connection', 'close');
  takeNoMore(reply.request.raw.socket);
}

/** A route's handler, from a function that makes an answer of a request. */
export function answering(handle: (request: FastifyRequest, reply: FastifyReply) => Promise<Answer>) {
  return (request: FastifyRequest, reply: FastifyReply): void => {
    handle(request, reply)
      .then((answer) => send(reply, answer))
      .catch((error: unknown) => reply.send(error));
  };
}

async function* wrapped(
  before: Uint8Array,
  json: AsyncIterable<Uint8Array>,
  behind: Uint8Array,
): AsyncGenerator<Uint8Array> {
  yield before;
  yield* json;
  yield behind;
}

/** A 304 has no content (RFC 9110, section 15.4.5), and says nothing of its length: to HEAD, Fastify would say 0. */
function sendNothing(reply: FastifyReply): FastifyReply {
  reply.removeHeader('content-type');
  return reply.request.method === 'HEAD' ? reply.send(Readable.from([])) : reply.send();
}

/** The answer goes out at once, but the connection stays open while the client is still sending. */
function sendWhileDraining(reply: FastifyReply): FastifyReply {
  const body = JSON.stringify(envelope('payloadTooLarge', null));
  async function* answerThenDrain(): AsyncGenerator<string> {
    yield body;
    await drain(reply.request.raw);
  }
  return reply.header('content-length', Buffer.byteLength(body)).send(Readable.from(answerThenDrain()));
}
