import assert from 'node:assert/strict';
import type { Answer } from './connection.ts';

/** Asserts that an answer is this envelope with `data` null, to the byte, and has the headers every answer has. */
export function assertRefusal(answer: Answer, status: number, message: string): void {
  assert.equal(answer.body, JSON.stringify({ status, message, data: null }));
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

function assertHeaders({ status, headers }: Answer, expectedStatus: number): void {
  assert.equal(status, expectedStatus);
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.ok(!Number.isNaN(Date.parse(headers.get('date') ?? '')));
}
