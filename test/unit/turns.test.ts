import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StoreUnavailable } from '../../src/book/book.ts';
import { Turns } from '../../src/store/turns.ts';

describe('Turns', () => {
  test('run a few calls at once, and the others in the order in which they came', async () => {
    const turns = new Turns('search', 2, undefined);
    const calls = Array.from({ length: 4 }, () => new Call());
    const results = calls.map((call, index) => turns.take(() => call.run(index)));
    assert.deepEqual(begun(calls), [true, true, false, false]);
    calls[1]?.end();
    assert.equal(await results[1], 1);
    assert.deepEqual(begun(calls), [true, true, true, false]);
    for (const call of calls) call.end();
    assert.deepEqual(await Promise.all(results), [0, 1, 2, 3]);
  });

  test('let a short search pass long ones, which are many calls', async () => {
    const turns = new Turns('search', 1, undefined);
    const order: string[] = [];
    const searchOf = async (name: string, calls: number) => {
      for (let call = 0; call < calls; call++) await turns.take(async () => order.push(name));
    };
    await Promise.all([searchOf('long', 4), searchOf('longer', 5), searchOf('short', 1)]);
    assert.deepEqual(order.slice(0, 3), ['long', 'longer', 'short']);
    assert.deepEqual(order.slice(3), ['long', 'longer', 'long', 'longer', 'long', 'longer', 'longer']);
  });

  test('end the wait of a call whose time is up: in the queue without running it, else with its turn kept', async () => {
    let countWaiting: (() => number) | undefined;
    const observer = {
      operation: (_name: string, count: () => number) => {
        countWaiting = count;
        return () => {};
      },
      pool: () => {},
      part: () => () => {},
    };
    const turns = new Turns('search', 1, observer);
    const [running, queued, next] = [new Call(), new Call(), new Call()];
    const [forRunning, forQueued] = [new AbortController(), new AbortController()];
    const results = [
      turns.take(() => running.run(0), forRunning.signal),
      turns.take(() => queued.run(1), forQueued.signal),
      turns.take(() => next.run(2)),
    ];
    const reason = new StoreUnavailable('the time is up');
    assert.equal(countWaiting?.(), 2);
    forQueued.abort(reason);
    await assert.rejects(results[1] as Promise<unknown>, reason);
    assert.equal(countWaiting?.(), 1);
    forRunning.abort(reason);
    await assert.rejects(results[0] as Promise<unknown>, reason);
    assert.deepEqual(begun([running, queued, next]), [true, false, false]);
    running.end();
    next.end();
    assert.equal(await results[2], 2);
    assert.deepEqual(begun([queued]), [false]);
    await assert.rejects(
      turns.take(() => queued.run(1), forQueued.signal),
      reason,
    );
  });

  test('go on behind a call that fails', async () => {
    const turns = new Turns('search', 1, undefined);
    const failing = turns.take(() => Promise.reject(new Error('failed')));
    const other = turns.take(async () => 'done');
    await assert.rejects(failing, /failed/);
    assert.equal(await other, 'done');
  });
});

/** A call that ends when it is told to. */
class Call {
  hasBegun = false;
  readonly #end = Promise.withResolvers<undefined>();

  async run(result: number): Promise<number> {
    this.hasBegun = true;
    await this.#end.promise;
    return result;
  }

  end(): void {
    this.#end.resolve(undefined);
  }
}

function begun(calls: readonly Call[]): boolean[] {
  return calls.map(({ hasBegun }) => hasBegun);
}
