import type { IncomingMessage, ServerResponse } from 'node:http';
import { DRAIN_BYTES_MAX, DRAIN_TIMEOUT_MS } from '../limits.ts';
import type { OutcomeName } from '../outcomes.ts';
import { Budget, Share } from './memory-budget.ts';

/** Why a body could not be had. */
export type BodyRefusal = Extract<
  OutcomeName,
  'payloadTooLarge' | 'badRequest' | 'requestTimeout' | 'serviceUnavailable'
>;

/** Shorter bodies, as nearly all are, do not count: whoever fills the memory with long ones cannot keep them out. */
const UNCOUNTED_BYTES_MAX = 4_096;

/** Reads the bodies of requests, whatever their Content-Type. */
export class BodyReader {
  readonly #bytesMax: number;
  readonly #budget: Budget;

  /** What the bodies under way hold. */
  get bytesHeld(): number {
    return this.#budget.bytesHeld;
  }

  /**
   * @param bytesMax the longest body that is read
   * @param bytesAtOnceMax what all bodies together may hold, from when they arrive until they are answered
   */
  constructor(bytesMax: number, bytesAtOnceMax: number) {
    this.#bytesMax = bytesMax;
    this.#budget = new Budget(bytesAtOnceMax);
  }

  /**
   * Reads the whole body of a request, up to a length. A client that waits to be told (`Expect: 100-continue`, RFC 9110, section
   * 10.1.1) is told so only now, after the checks that need no body.
   *
   * @param parse reads the bytes, which are not kept beyond it; while it has not settled, they count
   * @returns what was parsed, or why there are no bytes; a body in a Content-Encoding is never decoded, and reads as no bytes
   */
  read<Content>(
    request: IncomingMessage,
    response: ServerResponse,
    parse: (bytes: Uint8Array) => Content | Promise<Content>,
    bytesMax = this.#bytesMax,
  ): Promise<Content | BodyRefusal> {
    if (Number(request.headers['content-length']) > bytesMax) return Promise.resolve('payloadTooLarge');
    const refusal = refusals.get(request);
    if (refusal) return Promise.resolve(refusal);
    // HTTP/1.0 knows no 100.
    if (request.headers.expect !== undefined && request.httpVersionMinor > 0) response.writeContinue();

    const { promise, resolve, reject } = Promise.withResolvers<Content | BodyRefusal>();
    let bytes: Uint8Array = NOTHING;
    let length = 0;
    let share: Share | undefined;
    const settle = (body: Uint8Array | BodyRefusal) => {
      request
        .off('data', onData)
        .off('end', onEnd)
        .off('error', onGone)
        .off('close', onGone)
        .off(BODY_REFUSED, settle);
      if (typeof body === 'string') {
        share?.hold(0);
        resolve(body);
        return;
      }
      try {
        const content = parse(body);
        if (content instanceof Promise) share?.holdUntil(content);
        resolve(content);
      } catch (error) {
        reject(error);
      }
    };
    const onData = (chunk: Buffer) => {
      const end = length + chunk.length;
      if (end > bytesMax) {
        settle('payloadTooLarge');
        return;
      }
      const room = length === 0 ? end : roomFor(end, bytes.length, bytesMax);
      if (room > UNCOUNTED_BYTES_MAX && room > bytes.length) {
        share ??= new Share(this.#budget, response);
        if (!share.take(room)) {
          settle('serviceUnavailable');
          return;
        }
      }
      bytes = length === 0 ? chunk : append(chunk, bytes, length, room);
      length = end;
    };
    const onEnd = () => {
      const body = length === bytes.length ? bytes : bytes.subarray(0, length);
      settle(isUnencoded(request) ? body : NOTHING);
    };
    const onGone = () => settle('badRequest');
    request
      .on('data', onData)
      .on('end', onEnd)
      .on('error', onGone)
      .on('close', onGone)
      .on(BODY_REFUSED, settle);
    return promise;
  }
}

/** How many bytes of memory a body of this length is to have, of which it has some. */
function roomFor(length: number, room: number, lengthMax: number): number {
  return length <= room ? room : Math.min(2 * length, lengthMax);
}

/** Joins what comes in pieces as it comes: to keep them, a body in pieces of one byte would cost a hundred times more. */
function append(chunk: Uint8Array, bytes: Uint8Array, length: number, room: number): Uint8Array {
  const joined = room === bytes.length ? bytes : Buffer.allocUnsafeSlow(room);
  if (joined !== bytes) joined.set(bytes.subarray(0, length));
  joined.set(chunk, length);
  return joined;
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

function isUnencoded({ headers }: IncomingMessage): boolean {
  const encoding = headers['content-encoding'];
  return !encoding || encoding.toLowerCase() === 'identity';
}

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
