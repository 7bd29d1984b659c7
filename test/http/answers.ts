import assert from 'node:assert/strict';
import { outcomes } from '../../src/http/outcomes.ts';
import type { Answer } from './connection.ts';
import { assertTellsNothing } from './telltales.ts';

/** Asserts that an answer is this envelope with `data` null, to the byte, and has the headers every answer has. */
export function assertRefusal(answer: Answer, status: number, message: string): void {
  assert.equal(answer.body, JSON.stringify({ status, message, data: null }));
  assertEnvelope(answer);
  assertHeaders(answer, status);
  assert.equal(answer.headers.get('content-length'), String(answer.body.length));
}

/** Asserts that an answer is an envelope with this outcome. @returns its `data` */
export function assertSuccess(answer: Answer, status: number, message: string): unknown {
  const envelope = JSON.parse(answer.body) as { data: unknown };
  assert.deepEqual(envelope, { status, message, data: envelope.data });
  assertHeaders(answer, status);
  return envelope.data;
}

/** The ids that requests are given. */
export const REQUEST_ID = /^[0-9a-f]{12}-[0-9a-z]+$/;

/** All that an answer may have in its head. */
const HEADERS = new Set(
  `content-type x-content-type-options cache-control www-authenticate allow retry-after etag invalid-index link
    x-total-count x-request-id vary
    content-length transfer-encoding connection keep-alive date`.split(/\s+/),
);

/**
 * Asserts that an answer is in the envelope, with an outcome that there is. What is no success tells nothing but that:
 * there is no place in it for a secret, a token, SQL, a path or the text of a driver.
 */
export function assertEnvelope({ status, headers, body }: Answer): void {
  const envelope = JSON.parse(body) as { status: number; message: string; data: unknown };
  assert.deepEqual(Object.keys(envelope), ['status', 'message', 'data']);
  assert.equal(envelope.status, status);
  const known = Object.values(outcomes).find(({ message }) => message === envelope.message);
  assert.equal(known?.status, status);
  if (status >= 400) {
    assert.equal(envelope.data, null);
    // The id is the client's, or random: now and then it looks like anything.
    const told = [...headers].filter(([name]) => name !== 'x-request-id');
    assertTellsNothing(body + told.flat().join(' '));
  }
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  for (const name of headers.keys()) assert.ok(HEADERS.has(name), `a strange header: ${name}`);
}

function assertHeaders({ status, headers }: Answer, expectedStatus: number): void {
  assert.equal(status, expectedStatus);
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.ok(!Number.isNaN(Date.parse(headers.get('date') ?? '')));
  assert.match(headers.get('x-request-id') ?? '', REQUEST_ID);
}
