import assert from 'node:assert/strict';
import { outcomes } from '../../src/http/outcomes.ts';
import type { Service } from '../../testkit/service.ts';

export interface Outcome {
  readonly status: number;
  readonly data: unknown;
}

/** Sends a request, and asserts a response in the envelope: as usual, or 503 with Retry-After. */
export async function sendRequest(
  service: Service,
  method: string,
  path: string,
  body?: string,
): Promise<Outcome> {
  const response = await service.fetch(method, path, body);
  const envelope = (await response.json()) as { status: number; message: string; data: unknown };
  const { status, message, data } = envelope;
  assert.deepEqual(Object.keys(envelope), ['status', 'message', 'data']);
  assert.equal(status, response.status);
  if (status >= 500) {
    assert.deepEqual([status, message, data], [503, outcomes.serviceUnavailable.message, null]);
    assert.match(response.headers.get('retry-after') ?? '', /^[1-9][0-9]*$/);
  }
  return { status, data };
}
