import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StoreUnavailable } from '../../src/book/book.ts';
import { Batch, type BatchOptions } from '../../src/store/batch.ts';

const BOUNDS = {
  name: 'call',
  tripItemsMax: 100,
  tripTextMax: 100,
  queueItemsMax: 100,
  queueTextMax: 100,
};

/** A batch whose trips return when the test says so, and answer every item with its text in capitals. */
class Line {
  readonly batch: Batch<string, string>;
  readonly #trips: { readonly items: readonly string[]; readonly end: PromiseWithResolvers<void> }[] = [];
  readonly #answers: string[] = [];

  /** @param resultsMax how many items of a trip it answers at most; it does nothing for the others */
  constructor(options: Partial<BatchOptions<string>> = {}, resultsMax = 100) {
    const run = async (items: readonly string[]) => {
      const end = Promise.withResolvers<void>();
      this.#trips.push({ items, end });
      await end.promise;
      return items.slice(0, resultsMax).map((item) => item.toUpperCase());
    };
    this.batch = new Batch(run, { ...BOUNDS, ...options });
  }

  /** Calls once for each item, all in one turn, and lets the trip leave. */
  async call(...items: string[]): Promise<void> {
    for (const item of items) {
      const index = this.#answers.push('…') - 1;
      const note = (answer: string) => {
        this.#answers[index] = answer;
      };
      this.batch.call(item).then(note, (error: Error) => note(error.message));
    }
    await turns();
  }

  /** Lets the trip of this number return, or fail. */
  async end(trip: number, error?: Error): Promise<void> {
    if (error) this.#trips[trip]?.end.reject(error);
    else this.#trips[trip]?.end.resolve();
    await turns();
  }

  /** The items of every trip that has left. */
  get departures(): string[] {
    return this.#trips.map(({ items }) => items.join(' '));
  }

  /** What every call has been answered, in the order of the calls; `…` for nothing so far. */
  get answers(): string {
    return this.#answers.join(', ');
  }
}

/** As many turns of the event loop as anything takes that nobody holds up. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn();
}

const gone = new StoreUnavailable('ECONNREFUSED');
const defect = new Error('a defect');

/** Items of one letter have one key. */
const keyOf = (item: string) => item[0];
const textOf = (item: string) => item.length;

describe('A call', () => {
  test('leaves when its turn ends, if it is alone', async () => {
    const line = new Line();
    await line.call('a');
    assert.deepEqual(line.departures, ['a']);

    await line.end(0);
    assert.equal(line.answers, 'A');
  });

  test('gathers with others while a trip is under way, and leaves with them when it returns', async () => {
    const line = new Line();
    await line.call('a');
    await line.call('b');
    await line.call('c');
    assert.deepEqual(line.departures, ['a']);

    await line.end(0);
    assert.deepEqual(line.departures, ['a', 'b c']);
  });

  test('is answered when its own trip has returned', async () => {
    const line = new Line();
    await line.call('a');
    await line.call('b', 'c');
    assert.equal(line.answers, '…, …, …');
    await line.end(0);
    assert.equal(line.answers, 'A, …, …');
    await line.end(1);
    assert.equal(line.answers, 'A, B, C');
  });

  test('leaves again after everybody has been answered', async () => {
    const line = new Line();
    await line.call('a');
    await line.end(0);
    await line.call('b');
    assert.deepEqual(line.departures, ['a', 'b']);
  });

  test('leaves with those that follow it turn by turn', async () => {
    const line = new Line();
    void line.call('a', 'b');
    await nextTurn();
    void line.call('c');
    await nextTurn();
    await line.call('d');
    assert.deepEqual(line.departures, ['a b c d']);
  });

  test('leaves though there is no end of those that follow it', async () => {
    const line = new Line();
    void line.call('a', 'b');
    for (let turn = 0; turn < 20; turn++) {
      await nextTurn();
      void line.call('c');
    }
    assert.match(line.departures.join(', '), /^a b( c)*$/);
  });
});

describe('A trip', () => {
  test('takes no more than it may, and leaves the rest in order', async () => {
    const line = new Line({ tripItemsMax: 2 });
    await line.call('a');
    await line.call('b', 'c', 'd');
    for (const trip of [0, 1, 2]) await line.end(trip);

    assert.deepEqual(line.departures, ['a', 'b c', 'd']);
    assert.equal(line.answers, 'A, B, C, D');
  });

  test('that fails is made again item by item, so that a bad one fails alone', async () => {
    const line = new Line();
    await line.call('x');
    await line.call('a', 'bad', 'c');
    await line.end(0);
    await line.end(1, defect);
    await line.end(2);
    await line.end(3, defect);
    await line.end(4);

    assert.deepEqual(line.departures, ['x', 'a bad c', 'a', 'bad', 'c']);
    assert.equal(line.answers, 'X, A, a defect, C');
  });

  test('of one item that fails is not made again', async () => {
    const line = new Line();
    await line.call('bad');
    await line.end(0, defect);

    assert.deepEqual(line.departures, ['bad']);
    assert.equal(line.answers, 'a defect');
  });

  test('that throws at once fails like any other', async () => {
    const run = () => {
      throw defect;
    };
    const batch = new Batch(run, { ...BOUNDS, tripItemsMax: 1, queueItemsMax: 1 });
    await assert.rejects(batch.call('a'), defect);
    await assert.rejects(batch.call('b'), defect);
  });
});

describe('When the store is gone', () => {
  test('everybody in the trip and in the queue fails', async () => {
    const line = new Line({ tripItemsMax: 2 });
    await line.call('a');
    await line.call('b', 'c', 'd');
    await line.end(0);
    await line.end(1, gone);

    assert.deepEqual(line.departures, ['a', 'b c']);
    assert.equal(line.answers, `A, ${gone.message}, ${gone.message}, ${gone.message}`);
  });

  test('while items go again one by one, the others do not wait for it in turn', async () => {
    const line = new Line();
    await line.call('x');
    await line.call('a', 'b', 'c');
    await line.end(0);
    await line.end(1, defect);
    await line.end(2, gone);

    assert.deepEqual(line.departures, ['x', 'a b c', 'a']);
    assert.equal(line.answers, `X, ${gone.message}, ${gone.message}, ${gone.message}`);
  });

  test('the next call tries again', async () => {
    const line = new Line();
    await line.call('a');
    await line.end(0, gone);
    await line.call('b');
    await line.end(1);

    assert.equal(line.answers, `${gone.message}, B`);
  });
});

describe('Items with equal keys', () => {
  test('never share a trip, and keep their order', async () => {
    const line = new Line({ keyOf });
    await line.call('x');
    await line.call('a1', 'a2', 'b1', 'a3', 'b2');
    for (const trip of [0, 1, 2, 3]) await line.end(trip);

    assert.deepEqual(line.departures, ['x', 'a1 b1', 'a2 b2', 'a3']);
    assert.equal(line.answers, 'X, A1, A2, B1, A3, B2');
  });

  test('keep their order when trips are full', async () => {
    const line = new Line({ keyOf, tripItemsMax: 2 });
    await line.call('x');
    await line.call('a1', 'a2', 'b1', 'c1', 'a3', 'c2');
    for (const trip of [0, 1, 2, 3]) await line.end(trip);

    assert.deepEqual(line.departures, ['x', 'a1 b1', 'a2 c1', 'a3 c2']);
  });
});

test('The queue refuses one call too many at once, and takes calls again when there is room', async () => {
  const line = new Line({ queueItemsMax: 2 });
  await line.call('a');
  await line.call('b', 'c', 'd');
  assert.equal(line.answers, '…, …, …, the store is unavailable (queue full)');

  await line.end(0);
  await line.call('e');
  await line.end(1);
  assert.deepEqual(line.departures, ['a', 'b c', 'e']);
});

describe('Closing', () => {
  test('lets the calls made so far finish, and refuses later ones', async () => {
    const line = new Line();
    await line.call('a');
    await line.call('b');
    const closing = line.batch.close();
    await line.call('c');
    assert.equal(line.answers, '…, …, the store is unavailable (closed)');

    await line.end(0);
    assert.equal(await Promise.race([closing.then(() => 'closed'), nextTurn('open')]), 'open');
    await line.end(1);
    await closing;
    assert.equal(line.answers, 'A, B, the store is unavailable (closed)');
  });

  test('is done at once when nobody is on the way', async () => {
    await new Line().batch.close();
  });
});

describe('The text of items is bounded', () => {
  test('in a trip, which takes one item of any length', async () => {
    const line = new Line({ textOf, tripTextMax: 4 });
    await line.call('x');
    await line.call('aa', 'bb', 'c', 'ddddd', 'e');
    for (const trip of [0, 1, 2, 3, 4]) await line.end(trip);
    assert.deepEqual(line.departures, ['x', 'aa bb', 'c', 'ddddd', 'e']);
    assert.equal(line.answers, 'X, AA, BB, C, DDDDD, E');
  });

  test('in a trip of items with keys, which keep their order', async () => {
    const line = new Line({ textOf, keyOf, tripTextMax: 4 });
    await line.call('x');
    await line.call('a1', 'b111', 'b2', 'c1', 'a2');
    for (const trip of [0, 1, 2, 3, 4]) await line.end(trip);
    assert.deepEqual(line.departures, ['x', 'a1', 'b111', 'b2 c1', 'a2']);
    assert.equal(line.answers, 'X, A1, B111, B2, C1, A2');
  });

  test('in the queue, until calls are answered, however they are', async () => {
    const line = new Line({ textOf, queueTextMax: 4 });
    await line.call('aaaaaaaa');
    await line.call('b');
    await line.end(0, defect);
    await line.call('cc', 'dd', 'e');
    await line.end(1, gone);
    await line.call('ffff');
    await line.end(2);
    const full = 'the store is unavailable (queue full)';
    assert.equal(line.answers, `a defect, ${full}, ${gone.message}, ${gone.message}, ${full}, FFFF`);
  });
});

test('Items for which a trip did nothing go with the next one, before those that came later', async () => {
  const line = new Line({}, 2);
  await line.call('a', 'b', 'c', 'd', 'e');
  await line.call('f');
  for (const trip of [0, 1, 2]) await line.end(trip);
  assert.deepEqual(line.departures, ['a b c d e', 'c d e f', 'e f']);
  assert.equal(line.answers, 'A, B, C, D, E, F');
});
