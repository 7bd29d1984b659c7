import assert from 'node:assert/strict';
import { test } from 'node:test';
import { torment } from './hostile.ts';

const REQUESTS = 2_000;

test('whatever is sent, both engines answer in the envelope, alike to the byte, and store what they say', async () => {
  const statuses = await torment(Date.now() % 2 ** 31, REQUESTS);
  for (const status of [200, 201, 400, 401, 404]) {
    assert.ok(statuses.has(status), `the sequence is too tame: nothing was answered ${status}`);
  }
});
