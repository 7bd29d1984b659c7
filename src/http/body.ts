import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OutcomeName } from './outcomes.ts';

/** Why a body could not be had. */
export type BodyRefusal = Extract<OutcomeName, 'payloadTooLarge' | 'badRequest' | 'requestTimeout'>;

/**
 * Reads the whole body of a request, whatever its Content-Type. A client that waits to be told (`Expect:
 * 100-continue`, RFC 9110, section 10.1.1) is told so only now, after the checks that need no body.
 *
 * @param bytesMax the longest body that is read
 * @returns the bytes, or why there are none; a body in a Content-Encoding is never decoded, and reads as no bytes
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  bytesMax: number,
): Promise<Uint8Array | BodyRefusal> {
  if (Number(request.headers['content-length']) > bytesMax) return Promise.resolve('payloadTooLarge');
  const refusal = refusals.get(request);
  if (refusal) return Promise.resolve(refusal);
  // HTTP/1.0 knows no 100.
  if (request.headers.expect !== undefined && request.httpVersionMinor > 0) response.writeContinue();

  const { promise, resolve } = Promise.withResolvers<Uint8Array | BodyRefusal>();
  const chunks: Buffer[] = [];
  let length = 0;
  const settle = (body: Uint8Array | BodyRefusal) => {
    request
      .off('data', onData)
      .off('end', onEnd)
      .off('error', onGone)
      .off('close', onGone)
      .off(BODY_REFUSED, settle);
    resolve(body);
  };
  const onData = (chunk: Buffer) => {
    length += chunk.length;
    chunks.push(chunk);
    if (length > bytesMax) settle('payloadTooLarge');
  };
  const onEnd = () => settle(isPlain(request) ? join(chunks) : NOTHING);
  const onGone = () => settle('badRequest');
  request
    .on('data', onData)
    .on('end', onEnd)
    .on('error', onGone)
    .on('close', onGone)
    .on(BODY_REFUSED, settle);
  return promise;
}

/**
 * Tells whoever reads the body of a request, now or later, that the rest of it is malformed or comes too late. Who
 * does not need the body answers as if nothing had been.
 */
export function refuseBody(request: IncomingMessage, refusal: BodyRefusal): void {
  refusals.set(request, refusal);
  request.emit(BODY_REFUSED, refusal);
}

const refusals = new WeakMap<IncomingMessage, BodyRefusal>();
const BODY_REFUSED = Symbol('body refused');

const NOTHING = new Uint8Array();

function isPlain({ headers }: IncomingMessage): boolean {
  const encoding = headers['content-encoding'];
  return !encoding || encoding.toLowerCase() === 'identity';
}

function join(chunks: Buffer[]): Uint8Array {
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/** How much of a body that nobody wants is read, so that a client which is still sending gets to its answer. */
const DRAIN_BYTES_MAX = 16 * 1_024 * 1_024;
const DRAIN_TIMEOUT_MS = 5_000;

/** Discards what is left of a request's body, up to a bound of bytes and time. */
export function drain(request: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let length = 0;
  const timer = setTimeout(resolve, DRAIN_TIMEOUT_MS);
  request
    .on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > DRAIN_BYTES_MAX) resolve();
    })
    .on('end', resolve)
    .on('close', resolve)
    .on(BODY_REFUSED, resolve)
    .resume();
  if (request.readableEnded || request.destroyed || refusals.has(request)) resolve();
  return promise.finally(() => clearTimeout(timer));
}
