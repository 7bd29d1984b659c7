import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { abortable, shareInFlight, sleep } from '../../client/abort.ts';

const REASON = new Error('enough');
/** Longer than any test. */
const LONG_MS = 600_000;

function timers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
}

describe('sleep', () => {
  test('resolves after the time', async () => {
    await sleep(1);
    await sleep(1, new AbortController().signal);
  });

  test('rejects when its signal is aborted, and leaves no timer', async () => {
    const before = timers();
    const abortion = new AbortController();
    const wait = sleep(LONG_MS, abortion.signal);
    assert.equal(timers(), before + 1);
    abortion.abort(REASON);
    await assert.rejects(wait, REASON);
    assert.equal(timers(), before);
  });

  test('rejects when its signal has been aborted before', async () => {
    await assert.rejects(sleep(LONG_MS, AbortSignal.abort(REASON)), REASON);
    const never = new Promise<void>(() => {});
    await assert.rejects(abortable(never, AbortSignal.abort(REASON)), REASON);
  });
});

describe('shareInFlight', () => {
  test('does not start the work for an aborted signal', async () => {
    let started = 0;
    const share = shareInFlight(async () => {
      started++;
    });
    await assert.rejects(share(AbortSignal.abort(REASON)), REASON);
    assert.equal(started, 0);
  });

  test('runs the work once for concurrent calls, and again for later ones', async () => {
    let done = 0;
    const share = shareInFlight(async () => ++done);
    assert.deepEqual(await Promise.all([share(), share(new AbortController().signal), share()]), [1, 1, 1]);
    assert.equal(await share(), 2);
  });

  test('rejects all calls when the work fails, and runs it again later', async () => {
    let runs = 0;
    const share = shareInFlight(async () => {
      runs++;
      throw REASON;
    });
    for (const result of await Promise.allSettled([share(), share()]))
      assert.equal(result.status, 'rejected');
    await assert.rejects(share(), REASON);
    assert.equal(runs, 2);
  });
});
