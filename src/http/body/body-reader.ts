import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest, RequestPayload } from 'fastify';
import { Invalid } from '../../json/invalid.ts';
import { sendContinue } from '../connections/node-response.ts';
import { DISCARD_TIMEOUT_MS, DISCARDED_BYTES_MAX } from '../limits.ts';
import { MemoryBudget, Reservation } from '../memory-budget.ts';
import type { OutcomeName } from '../outcomes.ts';
import { Rejection } from '../rejection.ts';

/** A request of a route that expects a body: `request.body` has its bytes, or says why there are none. */
export type BodyRequest = FastifyRequest<{ Body: Uint8Array | Rejection }>;

declare module 'fastify' {
  interface FastifyRequest {
    /** The body that the route expects; undefined if it expects none. */
    expectedBody: ExpectedBody | undefined;
  }
}

/** Shorter bodies, as nearly all are, are not counted, so that long ones do not prevent them. */
const UNCOUNTED_BYTES_MAX = 4_096;

/** The one Content-Type that has a parser, {@link receiveBody}. For one of `*`, Fastify would parse the header of each request again. */
export const CONTENT_TYPE = 'application/octet-stream';

/** Has the bodies of some routes read, within a budget of memory. */
export class BodyReader {
  /** The memory of the long bodies that are being read or processed. */
  readonly budget: MemoryBudget;

  constructor(bytesAtOnceMax: number) {
    this.budget = new MemoryBudget(bytesAtOnceMax);
  }

  /** A hook `preParsing` of routes that expect a body of up to their `bodyLimit` bytes: {@link receiveBody} then reads it. */
  readonly prepareBody = (
    request: FastifyRequest,
    reply: FastifyReply,
    payload: RequestPayload,
    done: (error: null, payload: RequestPayload) => void,
  ): void => {
    request.expectedBody = new ExpectedBody(this.budget, payload, reply);
    done(null, payload);
  };
}

/** The content-type parser of all bodies. Where a route expects none, the body is not read. */
export function receiveBody(
  { expectedBody }: FastifyRequest,
  _payload: RequestPayload,
  done: (error: null, body?: Uint8Array | Rejection) => void,
): void {
  if (expectedBody) expectedBody.read((body) => done(null, body));
  else done(null);
}

/**
 * The value of a body, or why there is none.
 *
 * @param invalid the outcome if `read` finds that the body has no value
 */
export function parseBody<Value>(
  { body }: BodyRequest,
  read: (bytes: Uint8Array) => Value | Invalid,
  invalid: OutcomeName = 'invalidInput',
): Value | Rejection {
  if (body instanceof Rejection) return body;
  const value = read(body);
  return value instanceof Invalid ? new Rejection(invalid, { detail: value.detail }) : value;
}

class ExpectedBody {
  readonly #budget: MemoryBudget;
  readonly #payload: Readable;
  readonly #reply: FastifyReply;
  readonly #bytesMax: number;
  #reservation: Reservation | undefined;

  constructor(budget: MemoryBudget, payload: Readable, reply: FastifyReply) {
    this.#budget = budget;
    this.#payload = payload;
    this.#reply = reply;
    this.#bytesMax = reply.request.routeOptions.bodyLimit;
  }

  /**
   * Reads the body. 100 Continue is sent only now, after the hooks of the route (RFC 9110, section 10.1.1). A body with a
   * Content-Encoding is not decoded, but counts as no bytes.
   */
  read(settle: (body: Uint8Array | Rejection) => void): void {
    const payload = this.#payload;
    const { headers } = this.#reply.request;
    const isTooLong = Number(headers['content-length']) > this.#bytesMax;
    const rejection = isTooLong ? new Rejection('payloadTooLarge') : rejections.get(payload);
    if (rejection) {
      settle(rejection);
      return;
    }
    if (headers.expect !== undefined) sendContinue(this.#reply);

    let bytes: Uint8Array = NO_BYTES;
    let length = 0;
    const end = (body: Uint8Array | Rejection) => {
      payload
        .off('data', onData)
        .off('end', onEnd)
        .off('error', onAbort)
        .off('close', onAbort)
        .off(BODY_FAILED, end);
      if (body instanceof Rejection) this.#reservation?.resize(0);
      settle(body);
    };
    const onData = (chunk: Buffer) => {
      const newLength = length + chunk.length;
      if (newLength > this.#bytesMax) return end(new Rejection('payloadTooLarge'));
      if (newLength > bytes.length) {
        // A list of chunks of one byte each would need a hundred times the memory.
        const capacity = length === 0 ? newLength : Math.min(2 * newLength, this.#bytesMax);
        if (!this.#reserve(capacity)) return end(new Rejection('serviceUnavailable'));
        bytes = length === 0 ? chunk : grow(bytes, length, capacity);
      }
      if (length > 0) bytes.set(chunk, length);
      length = newLength;
    };
    const onEnd = () => {
      const body = length === bytes.length ? bytes : bytes.subarray(0, length);
      end(isUnencoded(headers) ? body : NO_BYTES);
    };
    const onAbort = () => end(new Rejection('badRequest'));
    payload
      .on('data', onData)
      .on('end', onEnd)
      .on('error', onAbort)
      .on('close', onAbort)
      .on(BODY_FAILED, end);
  }

  /** Counts the memory of the body until its handler has settled, even when the client has disconnected. */
  keepUntil(handled: Promise<unknown>): void {
    this.#reservation?.keepUntil(handled);
  }

  /** Reads and discards the rest of the body, within limits of bytes and time. */
  discard(): Promise<void> {
    const payload = this.#payload;
    const { promise, resolve } = Promise.withResolvers<void>();
    let length = 0;
    const timer = setTimeout(resolve, DISCARD_TIMEOUT_MS);
    payload
      .on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > DISCARDED_BYTES_MAX) resolve();
      })
      .on('end', resolve)
      .on('close', resolve)
      .on(BODY_FAILED, resolve)
      .resume();
    if (payload.readableEnded || payload.destroyed || rejections.has(payload)) resolve();
    return promise.finally(() => clearTimeout(timer));
  }

  #reserve(bytes: number): boolean {
    if (bytes <= UNCOUNTED_BYTES_MAX) return true;
    this.#reservation ??= new Reservation(this.#budget, this.#reply);
    return this.#reservation.tryResize(bytes);
  }
}

function grow(bytes: Uint8Array, length: number, capacity: number): Uint8Array {
  const larger = Buffer.allocUnsafeSlow(capacity);
  larger.set(bytes.subarray(0, length));
  return larger;
}

/** Makes the present or later reading of a body fail, as its rest is malformed or late. */
export function failBody(payload: Readable, rejection: Rejection): void {
  rejections.set(payload, rejection);
  payload.emit(BODY_FAILED, rejection);
}

const rejections = new WeakMap<Readable, Rejection>();
const BODY_FAILED = Symbol('body failed');

const NO_BYTES = new Uint8Array();

function isUnencoded(headers: FastifyRequest['headers']): boolean {
  const encoding = headers['content-encoding'];
  return !encoding || encoding.toLowerCase() === 'identity';
}
