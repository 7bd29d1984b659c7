import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StoreUnavailable } from '../../src/book/book-store.ts';
import { type BatchOptions, BatchQueue } from '../../src/store/batch-queue.ts';
import { NO_OBSERVER } from '../../testkit/no-observer.ts';

const BOUNDS = {
  name: 'call',
  observer: NO_OBSERVER,
  isUndone: (error: unknown) => error === defect,
  batchItemsMax: 100,
  queueItemsMax: 100,
};

/** A queue whose batches end on command; the result of an item is the item in upper case. */
class Harness {
  readonly queue: BatchQueue<string, string>;
  readonly #batches: { readonly items: readonly string[]; readonly end: PromiseWithResolvers<void> }[] = [];
  readonly #results: string[] = [];
  readonly #begin: (item: string) => void;

  /** @param begin called before an item runs */
  constructor(options: Partial<BatchOptions<string>> = {}, begin: (item: string) => void = () => {}) {
    this.#begin = begin;
    const run = async (items: readonly string[]) => {
      const end = Promise.withResolvers<void>();
      this.#batches.push({ items, end });
      await end.promise;
      return items.map((item) => item.toUpperCase());
    };
    this.queue = new BatchQueue(run, { ...BOUNDS, ...options });
  }

  /** Adds the items, all in one turn, and lets their batch start. */
  async call(...items: string[]): Promise<void> {
    for (const item of items) {
      const index = this.#results.push('…') - 1;
      const record = (result: string) => {
        this.#results[index] = result;
      };
      this.queue.add(item, () => this.#begin(item)).then(record, (error: Error) => record(error.message));
    }
    await turns();
  }

  /** Ends the batch of this number, with an error if there is one. */
  async end(batch: number, error?: Error): Promise<void> {
    if (error) this.#batches[batch]?.end.reject(error);
    else this.#batches[batch]?.end.resolve();
    await turns();
  }

  /** The items of every batch that has started. */
  get batches(): string[] {
    return this.#batches.map(({ items }) => items.join(' '));
  }

  /** The results of all calls, in the order of the calls; `…` for an unfinished one. */
  get results(): string {
    return this.#results.join(', ');
  }
}

/** More turns of the event loop than starting a batch takes. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn();
}

const unavailable = new StoreUnavailable('ECONNREFUSED');
const defect = new Error('a defect');

/** Items join a batch until they have more than four characters together. */
const joining = () => {
  let length = 0;
  return (item: string) => {
    length += item.length;
    return length <= 4;
  };
};

/** Items of one letter are never in one batch. */
const uniqueBy = (item: string) => item[0];

describe('A call', () => {
  test('that is alone runs at once, after others that were alone', async () => {
    const harness = new Harness();
    for (const [index, item] of ['a', 'b', 'c'].entries()) {
      void harness.call(item);
      assert.equal(harness.batches.at(-1), item);
      await harness.end(index);
    }
    assert.equal(harness.results, 'A, B, C');
  });

  test('waits for those of the next turns of the event loop, after a batch of several', async () => {
    const harness = new Harness();
    await harness.call('a');
    await harness.call('b', 'c');
    for (const batch of [0, 1]) await harness.end(batch);
    void harness.call('d', 'e');
    await nextTurn();
    void harness.call('f');
    await nextTurn();
    await harness.call('g');
    assert.deepEqual(harness.batches, ['a', 'b c', 'd e f g']);

    await harness.end(2);
    await harness.call('h');
    await harness.end(3);
    void harness.call('i');
    assert.deepEqual(harness.batches.slice(3), ['h', 'i']);
  });

  test('that comes in the turn in which a batch starts and ends joins the others of the turn', async () => {
    const batches: string[] = [];
    const run = async (items: readonly string[]) => {
      batches.push(items.join(' '));
      return items;
    };
    const queue = new BatchQueue<string, string>(run, BOUNDS);
    const calls = ['a', 'b', 'c'].map((item) => queue.add(item));
    assert.deepEqual(batches, ['a']);
    assert.deepEqual(await Promise.all(calls), ['a', 'b', 'c']);
    assert.deepEqual(batches, ['a', 'b c']);
  });

  test('that follows a lone one runs in the same turn, unless batches end in the turn in which they start', async () => {
    for (const endsInTurn of [false, true]) {
      const batches: string[] = [];
      const run = async (items: readonly string[]) => {
        batches.push(items.join(' '));
        return items;
      };
      const queue = new BatchQueue<string, string>(run, { ...BOUNDS, endsInTurn });
      await queue.add('a');
      let isSameTurn = true;
      setImmediate(() => (isSameTurn = false));
      await queue.add('b');
      assert.deepEqual(batches, ['a', 'b']);
      assert.equal(isSameTurn, !endsInTurn);
    }
  });

  test('that arrives while a batch runs joins the next one', async () => {
    const harness = new Harness();
    await harness.call('a');
    await harness.call('b');
    await harness.call('c');
    assert.deepEqual(harness.batches, ['a']);

    await harness.end(0);
    assert.deepEqual(harness.batches, ['a', 'b c']);
  });

  test('resolves when its own batch has finished', async () => {
    const harness = new Harness();
    await harness.call('a');
    await harness.call('b', 'c');
    assert.equal(harness.results, '…, …, …');
    await harness.end(0);
    assert.equal(harness.results, 'A, …, …');
    await harness.end(1);
    assert.equal(harness.results, 'A, B, C');
  });

  test('runs after the queue was empty', async () => {
    const harness = new Harness();
    await harness.call('a');
    await harness.end(0);
    await harness.call('b');
    assert.deepEqual(harness.batches, ['a', 'b']);
  });

  test('runs even if every turn adds calls', async () => {
    const harness = new Harness();
    await harness.call('a');
    await harness.call('b', 'b');
    for (const batch of [0, 1]) await harness.end(batch);
    void harness.call('c', 'c');
    for (let turn = 0; turn < 20; turn++) {
      await nextTurn();
      void harness.call('c');
    }
    assert.match(harness.batches.join(', '), /^a, b b, c c( c)+$/);
  });
});

describe('A batch', () => {
  test('has a maximum of items; the others join the next batch in order', async () => {
    const harness = new Harness({ batchItemsMax: 2 });
    await harness.call('a');
    await harness.call('b', 'c', 'd');
    for (const batch of [0, 1, 2]) await harness.end(batch);

    assert.deepEqual(harness.batches, ['a', 'b c', 'd']);
    assert.equal(harness.results, 'A, B, C, D');
  });

  test('that fails is retried item by item, so that only the invalid item fails', async () => {
    const harness = new Harness();
    await harness.call('x');
    await harness.call('a', 'bad', 'c');
    await harness.end(0);
    await harness.end(1, defect);
    await harness.end(2);
    await harness.end(3, defect);
    await harness.end(4);

    assert.deepEqual(harness.batches, ['x', 'a bad c', 'a', 'bad', 'c']);
    assert.equal(harness.results, 'X, A, a defect, C');
  });

  test('that fails, and may have changed something, is not retried: its calls fail, and no others', async () => {
    const harness = new Harness();
    await harness.call('x');
    await harness.call('a', 'b', 'c');
    await harness.end(0);
    await harness.call('d');
    await harness.end(1, new TypeError('after the commit'));
    await harness.end(2);

    assert.deepEqual(harness.batches, ['x', 'a b c', 'd']);
    assert.equal(harness.results, 'X, after the commit, after the commit, after the commit, D');
  });

  test('of one item that fails is not retried', async () => {
    const harness = new Harness();
    await harness.call('bad');
    await harness.end(0, defect);

    assert.deepEqual(harness.batches, ['bad']);
    assert.equal(harness.results, 'a defect');
  });

  test('that throws synchronously fails like any other', async () => {
    const run = () => {
      throw defect;
    };
    const queue = new BatchQueue(run, { ...BOUNDS, batchItemsMax: 1, queueItemsMax: 1 });
    await assert.rejects(queue.add('a'), defect);
    await assert.rejects(queue.add('b'), defect);
  });
});

describe('When the store is unavailable', () => {
  test('all calls in the batch and in the queue fail', async () => {
    const harness = new Harness({ batchItemsMax: 2 });
    await harness.call('a');
    await harness.call('b', 'c', 'd');
    await harness.end(0);
    await harness.end(1, unavailable);

    assert.deepEqual(harness.batches, ['a', 'b c']);
    assert.equal(
      harness.results,
      `A, ${unavailable.message}, ${unavailable.message}, ${unavailable.message}`,
    );
  });

  test('while items are retried one by one, all calls fail at once', async () => {
    const harness = new Harness();
    await harness.call('x');
    await harness.call('a', 'b', 'c');
    await harness.end(0);
    await harness.end(1, defect);
    await harness.end(2, unavailable);

    assert.deepEqual(harness.batches, ['x', 'a b c', 'a']);
    assert.equal(
      harness.results,
      `X, ${unavailable.message}, ${unavailable.message}, ${unavailable.message}`,
    );
  });

  test('the next call runs', async () => {
    const harness = new Harness();
    await harness.call('a');
    await harness.end(0, unavailable);
    await harness.call('b');
    await harness.end(1);

    assert.equal(harness.results, `${unavailable.message}, B`);
  });
});

describe('Items that must not meet', () => {
  test('are in different batches, in their order', async () => {
    const harness = new Harness({ uniqueBy });
    await harness.call('x');
    await harness.call('a1', 'a2', 'b1', 'a3', 'b2');
    for (const batch of [0, 1, 2, 3]) await harness.end(batch);

    assert.deepEqual(harness.batches, ['x', 'a1 b1', 'a2 b2', 'a3']);
    assert.equal(harness.results, 'X, A1, A2, B1, A3, B2');
  });

  test('keep their order when batches are full', async () => {
    const harness = new Harness({ uniqueBy, batchItemsMax: 2 });
    await harness.call('x');
    await harness.call('a1', 'a2', 'b1', 'c1', 'a3', 'c2');
    for (const batch of [0, 1, 2, 3]) await harness.end(batch);

    assert.deepEqual(harness.batches, ['x', 'a1 b1', 'a2 c1', 'a3 c2']);
  });
});

describe('A batch that not every item joins', () => {
  test('ends before the first one that does not, which begins the next', async () => {
    const harness = new Harness({ joining });
    await harness.call('x');
    await harness.call('aa', 'bb', 'c', 'ddd', 'e');
    for (const batch of [0, 1, 2]) await harness.end(batch);

    assert.deepEqual(harness.batches, ['x', 'aa bb', 'c ddd', 'e']);
  });

  test('leaves out those that are no longer wanted when it begins, and rejects their calls', async () => {
    const unwanted = new Set<string>();
    const begin = (item: string) => {
      if (unwanted.has(item)) throw unavailable;
    };
    const harness = new Harness({}, begin);
    await harness.call('a');
    await harness.call('b', 'c', 'd');
    unwanted.add('b').add('d');
    await harness.end(0);
    await harness.end(1);
    await harness.call('d');

    assert.deepEqual(harness.batches, ['a', 'c']);
    const gone = 'the store is unavailable (ECONNREFUSED)';
    assert.equal(harness.results, `A, ${gone}, C, ${gone}, ${gone}`);
    await harness.queue.close();
  });
});

describe('Closing', () => {
  test('waits for queued calls, and rejects later ones', async () => {
    const harness = new Harness();
    await harness.call('a');
    await harness.call('b');
    const closing = harness.queue.close();
    await harness.call('c');
    assert.equal(harness.results, '…, …, the store is unavailable (closed)');

    await harness.end(0);
    assert.equal(await Promise.race([closing.then(() => 'closed'), nextTurn('open')]), 'open');
    await harness.end(1);
    await closing;
    assert.equal(harness.results, 'A, B, the store is unavailable (closed)');
  });

  test('resolves at once when no call is pending', async () => {
    await new Harness().queue.close();
  });
});
