import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { abortable, shareInFlight, sleep } from '../../src/client/abort.ts';

const REASON = new Error('enough');
/** Longer than any test. */
const LONG_MS = 600_000;

function timers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
}

describe('A wait', () => {
  test('ends by itself', async () => {
    await sleep(1);
    await sleep(1, new AbortController().signal);
  });

  test('ends at once when its signal is aborted, and leaves no timer that keeps the process', async () => {
    const before = timers();
    const abortion = new AbortController();
    const wait = sleep(LONG_MS, abortion.signal);
    assert.equal(timers(), before + 1);
    abortion.abort(REASON);
    await assert.rejects(wait, REASON);
    assert.equal(timers(), before);
  });

  test('does not begin when its signal has been aborted', async () => {
    await assert.rejects(sleep(LONG_MS, AbortSignal.abort(REASON)), REASON);
    const never = new Promise<void>(() => {});
    await assert.rejects(abortable(never, AbortSignal.abort(REASON)), REASON);
  });
});

describe('Shared work', () => {
  test('is not begun for who has left already', async () => {
    let begun = 0;
    const share = shareInFlight(async () => {
      begun++;
    });
    await assert.rejects(share(AbortSignal.abort(REASON)), REASON);
    assert.equal(begun, 0);
  });

  test('is done once for who wants it at the same time, and again for who comes later', async () => {
    let done = 0;
    const share = shareInFlight(async () => ++done);
    assert.deepEqual(await Promise.all([share(), share(new AbortController().signal), share()]), [1, 1, 1]);
    assert.equal(await share(), 2);
  });

  test('that fails has failed for all, and is tried again', async () => {
    let tried = 0;
    const share = shareInFlight(async () => {
      tried++;
      throw REASON;
    });
    for (const result of await Promise.allSettled([share(), share()]))
      assert.equal(result.status, 'rejected');
    await assert.rejects(share(), REASON);
    assert.equal(tried, 2);
  });
});
