import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DueTimer } from '../../src/changes/due-timer.ts';

const LATE_MS = 1_000_000;

describe('A timer', () => {
  test('calls once, at the earliest of the requested times', async () => {
    const calls: unknown[] = [];
    const timer = new DueTimer(() => calls.push(undefined));
    for (const times of [
      [LATE_MS, 1],
      [1, LATE_MS],
      [1, 2, 1],
    ]) {
      for (const ms of times) timer.callIn(ms);
      while (calls.length === 0) await sleep(1);
      await sleep(10);
      assert.equal(calls.splice(0).length, 1);
    }
  });

  test('can be called again after a cancellation, and never after the end', async () => {
    const calls: unknown[] = [];
    const timer = new DueTimer(() => calls.push(undefined));
    timer.callIn(1);
    timer.cancel();
    await sleep(10);
    assert.equal(calls.length, 0);
    timer.callIn(1);
    while (calls.length === 0) await sleep(1);
    timer.callIn(1);
    timer.close();
    timer.callIn(1);
    await sleep(10);
    assert.equal(calls.length, 1);
  });
});
