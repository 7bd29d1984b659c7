import type { IncomingMessage, ServerResponse } from 'node:http';
import { BODY_BYTES_MAX } from '../body-limits.ts';
import { DISCARD_TIMEOUT_MS, DISCARDED_BYTES_MAX } from '../limits.ts';
import type { OutcomeName } from '../outcomes.ts';
import { MemoryBudget, Reservation } from './memory-budget.ts';

export type BodyError = Extract<
  OutcomeName,
  'payloadTooLarge' | 'badRequest' | 'requestTimeout' | 'serviceUnavailable'
>;

/** Shorter bodies, as nearly all are, are not counted, so that long ones do not prevent them. */
const UNCOUNTED_BYTES_MAX = 4_096;

/** Reads the bodies of requests, whatever their Content-Type. */
export class BodyReader {
  /** The memory of the long bodies that are being read or processed. */
  readonly budget: MemoryBudget;

  constructor(bytesAtOnceMax: number) {
    this.budget = new MemoryBudget(bytesAtOnceMax);
  }

  /**
   * Reads and parses a body, whose memory is counted until `parse` settles. 100 Continue is sent only now, after the checks
   * that need no body (RFC 9110, section 10.1.1). A body with a Content-Encoding is not decoded, but parsed as no bytes.
   */
  read<Content>(
    request: IncomingMessage,
    response: ServerResponse,
    parse: (bytes: Uint8Array) => Content | Promise<Content>,
    bytesMax = BODY_BYTES_MAX,
  ): Promise<Content | BodyError> {
    if (Number(request.headers['content-length']) > bytesMax) return Promise.resolve('payloadTooLarge');
    const bodyError = bodyErrors.get(request);
    if (bodyError) return Promise.resolve(bodyError);
    // HTTP/1.0 has no 100 Continue.
    if (request.headers.expect !== undefined && request.httpVersionMinor > 0) response.writeContinue();

    const { promise, resolve, reject } = Promise.withResolvers<Content | BodyError>();
    let bytes: Uint8Array = NO_BYTES;
    let length = 0;
    let reservation: Reservation | undefined;
    const settle = (body: Uint8Array | BodyError) => {
      request
        .off('data', onData)
        .off('end', onEnd)
        .off('error', onAbort)
        .off('close', onAbort)
        .off(BODY_FAILED, settle);
      if (typeof body === 'string') {
        reservation?.resize(0);
        resolve(body);
        return;
      }
      try {
        const content = parse(body);
        if (content instanceof Promise) reservation?.keepUntil(content);
        resolve(content);
      } catch (error) {
        reject(error);
      }
    };
    const onData = (chunk: Buffer) => {
      const end = length + chunk.length;
      if (end > bytesMax) return settle('payloadTooLarge');
      if (end > bytes.length) {
        // A list of chunks of one byte each would need a hundred times the memory.
        const capacity = length === 0 ? end : Math.min(2 * end, bytesMax);
        if (capacity > UNCOUNTED_BYTES_MAX) {
          reservation ??= new Reservation(this.budget, response);
          if (!reservation.tryResize(capacity)) return settle('serviceUnavailable');
        }
        bytes = length === 0 ? chunk : grow(bytes, length, capacity);
      }
      if (length > 0) bytes.set(chunk, length);
      length = end;
    };
    const onEnd = () => {
      const body = length === bytes.length ? bytes : bytes.subarray(0, length);
      settle(isUnencoded(request) ? body : NO_BYTES);
    };
    const onAbort = () => settle('badRequest');
    request
      .on('data', onData)
      .on('end', onEnd)
      .on('error', onAbort)
      .on('close', onAbort)
      .on(BODY_FAILED, settle);
    return promise;
  }
}

function grow(bytes: Uint8Array, length: number, capacity: number): Uint8Array {
  const larger = Buffer.allocUnsafeSlow(capacity);
  larger.set(bytes.subarray(0, length));
  return larger;
}

/** Makes the present or later reading of a body fail, as its rest is malformed or late. */
export function failBody(request: IncomingMessage, error: BodyError): void {
  bodyErrors.set(request, error);
  request.emit(BODY_FAILED, error);
}

const bodyErrors = new WeakMap<IncomingMessage, BodyError>();
const BODY_FAILED = Symbol('body failed');

const NO_BYTES = new Uint8Array();

function isUnencoded({ headers }: IncomingMessage): boolean {
  const encoding = headers['content-encoding'];
  return !encoding || encoding.toLowerCase() === 'identity';
}

/** Reads and discards the rest of a request's body, within limits of bytes and time. */
export function discardBody(request: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let length = 0;
  const timer = setTimeout(resolve, DISCARD_TIMEOUT_MS);
  request
    .on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > DISCARDED_BYTES_MAX) resolve();
    })
    .on('end', resolve)
    .on('close', resolve)
    .on(BODY_FAILED, resolve)
    .resume();
  if (request.readableEnded || request.destroyed || bodyErrors.has(request)) resolve();
  return promise.finally(() => clearTimeout(timer));
}
