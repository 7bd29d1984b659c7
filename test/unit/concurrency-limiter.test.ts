import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StoreUnavailable } from '../../src/book/book-store.ts';
import { ConcurrencyLimiter } from '../../src/search/concurrency-limiter.ts';
import { NO_OBSERVER } from '../../testkit/no-observer.ts';

describe('A concurrency limiter', () => {
  test('limits concurrent calls, and runs the others in the order of arrival', async () => {
    const limiter = new ConcurrencyLimiter(2, NO_OBSERVER);
    const calls = Array.from({ length: 4 }, () => new Call());
    const results = calls.map((call, index) => limiter.run(() => call.run(index)));
    assert.deepEqual(started(calls), [true, true, false, false]);
    calls[1]?.end();
    assert.equal(await results[1], 1);
    assert.deepEqual(started(calls), [true, true, true, false]);
    for (const call of calls) call.end();
    assert.deepEqual(await Promise.all(results), [0, 1, 2, 3]);
  });

  test('runs a short search before long ones, which are many calls', async () => {
    const limiter = new ConcurrencyLimiter(1, NO_OBSERVER);
    const order: string[] = [];
    const searchOf = async (name: string, calls: number) => {
      for (let call = 0; call < calls; call++) await limiter.run(async () => order.push(name));
    };
    await Promise.all([searchOf('long', 4), searchOf('longer', 5), searchOf('short', 1)]);
    assert.deepEqual(order.slice(0, 3), ['long', 'longer', 'short']);
    assert.deepEqual(order.slice(3), ['long', 'longer', 'long', 'longer', 'long', 'longer', 'longer']);
  });

  test('rejects an aborted call: a queued one never runs, a running one counts until it ends', async () => {
    let countWaiting: (() => number) | undefined;
    const observer = {
      operation: (_name: string, count: () => number) => {
        countWaiting = count;
        return () => {};
      },
      pool: () => {},
      part: () => () => {},
    };
    const limiter = new ConcurrencyLimiter(1, observer);
    const [running, queued, next] = [new Call(), new Call(), new Call()];
    const [forRunning, forQueued] = [new AbortController(), new AbortController()];
    const results = [
      limiter.run(() => running.run(0), forRunning.signal),
      limiter.run(() => queued.run(1), forQueued.signal),
      limiter.run(() => next.run(2)),
    ];
    const reason = new StoreUnavailable('the time is up');
    assert.equal(countWaiting?.(), 2);
    forQueued.abort(reason);
    await assert.rejects(results[1] as Promise<unknown>, reason);
    assert.equal(countWaiting?.(), 1);
    forRunning.abort(reason);
    await assert.rejects(results[0] as Promise<unknown>, reason);
    assert.deepEqual(started([running, queued, next]), [true, false, false]);
    running.end();
    next.end();
    assert.equal(await results[2], 2);
    assert.deepEqual(started([queued]), [false]);
    await assert.rejects(
      limiter.run(() => queued.run(1), forQueued.signal),
      reason,
    );
  });

  test('runs the next call after one that fails', async () => {
    const limiter = new ConcurrencyLimiter(1, NO_OBSERVER);
    const failing = limiter.run(() => Promise.reject(new Error('failed')));
    const other = limiter.run(async () => 'done');
    await assert.rejects(failing, /failed/);
    assert.equal(await other, 'done');
  });
});

/** A call that ends on command. */
class Call {
  hasStarted = false;
  readonly #end = Promise.withResolvers<undefined>();

  async run(result: number): Promise<number> {
    this.hasStarted = true;
    await this.#end.promise;
    return result;
  }

  end(): void {
    this.#end.resolve(undefined);
  }
}

function started(calls: readonly Call[]): boolean[] {
  return calls.map(({ hasStarted }) => hasStarted);
}
