import assert from 'node:assert/strict';
import { outcomes } from '../src/http/outcomes.ts';
import { assertNothingConfidential } from './confidential.ts';
import type { RawResponse } from './connection.ts';

/** Asserts that a response is this envelope with `data` null, byte for byte, and has the common headers. */
export function assertError(response: RawResponse, status: number, message: string): void {
  assert.equal(response.body, JSON.stringify({ status, message, data: null }));
  assertEnvelope(response);
  assertHeaders(response, status);
  assert.equal(response.headers.get('content-length'), String(response.body.length));
}

/** Asserts that a response is an envelope with this outcome. @returns its `data` */
export function assertSuccess(response: RawResponse, status: number, message: string): unknown {
  const envelope = JSON.parse(response.body) as { data: unknown };
  assert.deepEqual(envelope, { status, message, data: envelope.data });
  assertHeaders(response, status);
  return envelope.data;
}

/** A generated request id. */
export const REQUEST_ID = /^[0-9a-f]{12}-[0-9a-z]+$/;

/** The headers that responses may have. */
const HEADERS = new Set(
  `content-type x-content-type-options cache-control www-authenticate allow retry-after etag error-detail invalid-index link
    x-total-count x-offset x-request-id vary
    content-length transfer-encoding connection keep-alive date`.split(/\s+/),
);

/** Asserts that a response is in the envelope with a known outcome, and that an error has nothing confidential. */
export function assertEnvelope({ status, headers, body }: RawResponse): void {
  const envelope = JSON.parse(body) as { status: number; message: string; data: unknown };
  assert.deepEqual(Object.keys(envelope), ['status', 'message', 'data']);
  assert.equal(envelope.status, status);
  const known = Object.values(outcomes).find(({ message }) => message === envelope.message);
  assert.equal(known?.status, status);
  if (status >= 400) {
    assert.equal(envelope.data, null);
    // The id may contain any text by chance.
    const others = [...headers].filter(([name]) => name !== 'x-request-id');
    assertNothingConfidential(body + others.flat().join(' '));
  }
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  for (const name of headers.keys()) assert.ok(HEADERS.has(name), `an unknown header: ${name}`);
}

function assertHeaders({ status, headers }: RawResponse, expectedStatus: number): void {
  assert.equal(status, expectedStatus);
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.ok(!Number.isNaN(Date.parse(headers.get('date') ?? '')));
  assert.match(headers.get('x-request-id') ?? '', REQUEST_ID);
}
