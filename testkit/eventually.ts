import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { PATIENCE_MS } from './browser.ts';

const PAUSE_MS = 20;

/** Asserts that a value becomes equal to an expected one, for what happens some time after that which caused it. */
export async function assertEventually<Value>(read: () => Promise<Value>, expected: Value): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  let value = await read();
  for (; !isDeepStrictEqual(value, expected) && performance.now() < end; value = await read())
    await sleep(PAUSE_MS);
  assert.deepEqual(value, expected);
}
