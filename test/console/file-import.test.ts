import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Batch } from '../../console/src/files/store/batches.ts';
import {
  CONFIRMATION_MS,
  type ImportEnd,
  importBatches,
  type Phase,
  type UnconfirmedBatch,
} from '../../console/src/files/store/import-batches.ts';
import {
  type Book,
  type BookClient,
  createClient,
  NoResponseError,
  RefusedError,
} from '../../src/client/index.ts';
import { PASSWORD, type Service, startService, USERNAME } from '../http/service.ts';

/** The outcome of a batch. `unconfirmed` and `lost` ones get no response, and only the former are stored. */
type Outcome = 'stored' | 'unconfirmed' | 'lost' | 'busy' | 'rejected' | { readonly storedAfterMs: number };

describe('An import', () => {
  let service: Service;
  let client: BookClient;
  before(async () => {
    service = await startService();
    client = createClient({ url: service.url, username: USERNAME, password: PASSWORD });
  });
  after(() => service[Symbol.asyncDispose]());

  /** The outcomes of the next batches; later ones are stored. */
  let outcomes: Outcome[] = [];
  /** The number of next list calls that fail. */
  let listFailures = 0;
  /** List calls also fail in this period. */
  let outage = { from: 0, to: 0 };
  let now = 0;
  let late: { readonly at: number; readonly batch: readonly Partial<Book>[] }[] = [];
  let phases: Phase[] = [];
  let stored = 0;
  let sent = 0;
  let cancel = new AbortController();
  beforeEach(async () => {
    await Promise.all((await all(client.list())).map(({ id }) => client.delete(id)));
    outcomes = [];
    late = [];
    phases = [];
    listFailures = now = stored = sent = 0;
    outage = { from: 0, to: 0 };
    cancel = new AbortController();
  });

  /** A client with a failing connection. */
  const failing: BookClient = {
    create: (...given) => client.create(...given),
    find: (...given) => client.find(...given),
    update: (...given) => client.update(...given),
    delete: (...given) => client.delete(...given),
    updateMany: (...given) => client.updateMany(...given),
    restore: (...given) => client.restore(...given),
    deletedBooks: (...given) => client.deletedBooks(...given),
    newestCursor: (...given) => client.newestCursor(...given),
    history: (...given) => client.history(...given),
    changes: (...given) => client.changes(...given),
    list(...given) {
      const isOutage = now >= outage.from && now < outage.to;
      if (isOutage || listFailures-- > 0) throw new NoResponseError('GET /books', 'network', false);
      return client.list(...given);
    },
    async createMany(books, options) {
      sent++;
      const outcome = outcomes.shift() ?? 'stored';
      if (outcome === 'stored') return await client.createMany(books, options);
      if (outcome === 'unconfirmed') await client.createMany(books, options);
      if (outcome === 'busy') throw rejection(429, false);
      if (outcome === 'rejected') throw rejection(400, false);
      if (typeof outcome === 'object') late.push({ at: now + outcome.storedAfterMs, batch: books });
      throw outcome === 'lost' ? rejection(503, true) : new NoResponseError('POST /books', 'network', true);
    },
  };

  async function sleep(milliseconds: number): Promise<void> {
    now += milliseconds;
    for (const { batch } of late.filter(({ at }) => at <= now)) await client.createMany(batch);
    late = late.filter(({ at }) => at > now);
  }

  async function run(batches: readonly Batch[], unconfirmed?: UnconfirmedBatch): Promise<ImportEnd> {
    const dependencies = { client: failing, sleep, now: () => now };
    const listener = {
      onPhase: (phase: Phase) => phases.at(-1) === phase || phases.push(phase),
      onStored: (books: number) => {
        stored += books;
      },
    };
    return await importBatches(iterate(batches), dependencies, listener, cancel.signal, unconfirmed);
  }

  /** Asserts that each book of the batches is stored once, in order. */
  async function assertStored(batches: readonly Batch[]): Promise<void> {
    const books: unknown[] = [];
    for await (const { id: _, ...fields } of client.list()) books.push(fields);
    assert.deepEqual(
      books,
      batches.flatMap((batch) => batch.books),
    );
    assert.equal(stored, books.length);
  }

  test('stores batch after batch', async () => {
    const batches = batchesOf(3, 100);
    assert.deepEqual(await run(batches), { kind: 'done' });
    await assertStored(batches);
    assert.deepEqual([phases, sent, now], [['sending'], 3, 0]);
  });

  test('searches for a batch without a response, and does not store it twice', async () => {
    const batches = batchesOf(5, 40);
    outcomes = ['stored', 'unconfirmed', 'lost', 'stored', 'unconfirmed', 'lost'];
    listFailures = 1;
    assert.deepEqual(await run(batches), { kind: 'done' });
    await assertStored(batches);
    assert.equal(sent, 7);
    assert.deepEqual([...new Set(phases)], ['waiting', 'sending', 'unconfirmed']);
  });

  test('distinguishes batches with the same books', async () => {
    const [batch] = batchesOf(1, 10);
    const batches = Array.from({ length: 4 }, () => batch as Batch);
    outcomes = ['unconfirmed', 'lost', 'unconfirmed', 'lost', 'lost'];
    assert.deepEqual(await run(batches), { kind: 'done' });
    await assertStored(batches);
  });

  test('waits for a batch that is stored after the service responds again', async () => {
    const batches = batchesOf(2, 10);
    outcomes = [{ storedAfterMs: CONFIRMATION_MS - 2_000 }];
    assert.deepEqual(await run(batches), { kind: 'done' });
    await assertStored(batches);
    assert.equal(sent, 2);
  });

  /** A client whose list calls find a book changed, and another one deleted. */
  const changing = {
    ...failing,
    list(...given: Parameters<BookClient['list']>) {
      const pages = async function* () {
        const [first, second] = await all(client.list());
        if (first && second) {
          await Promise.all([client.update(first.id, { year: 1 }), client.delete(second.id)]);
        }
        yield* failing.list(...given).pages();
      };
      return {
        pages,
        async *[Symbol.asyncIterator]() {
          for await (const { books } of pages()) yield* books;
        },
      };
    },
  } satisfies BookClient;

  test('restarts the wait when the service becomes unavailable again', async () => {
    const batches = batchesOf(1, 10);
    outage = { from: CONFIRMATION_MS / 2, to: CONFIRMATION_MS + 1_000 };
    outcomes = [{ storedAfterMs: outage.to + 5_000 }];
    assert.deepEqual(await run(batches), { kind: 'done' });
    await assertStored(batches);
    assert.equal(sent, 1);
  });

  test('recognizes a stored batch of which another user has changed one book and deleted another', async () => {
    const batches = batchesOf(1, 10);
    outcomes = ['unconfirmed'];
    listFailures = 2;
    const dependencies = { client: changing, sleep, now: () => now };
    const listener = { onPhase: () => {}, onStored: () => {} };
    const end = await importBatches(iterate(batches), dependencies, listener, cancel.signal);
    assert.deepEqual(end, { kind: 'done' });
    assert.equal(sent, 1);
  });

  test('retries without limit while the service responds 429', async () => {
    const batches = batchesOf(1, 3);
    outcomes = Array.from({ length: 50 }, () => 'busy' as const);
    assert.deepEqual(await run(batches), { kind: 'done' });
    await assertStored(batches);
    assert.deepEqual(phases.slice(0, 2), ['sending', 'waiting']);
  });

  test('ends when the service rejects a batch, and reports that batch', async () => {
    const batches = batchesOf(3, 5);
    outcomes = ['stored', 'rejected'];
    const end = await run(batches);
    assert.ok(end.kind === 'rejected' && end.error.status === 400);
    assert.equal(end.batch, batches[1]);
    await assertStored(batches.slice(0, 1));
  });

  test('can be cancelled between two batches', async () => {
    const batches = batchesOf(3, 5);
    const cancelling: BookClient = {
      ...failing,
      createMany: async (...given) => {
        if (sent === 1) cancel.abort();
        return await failing.createMany(...given);
      },
    };
    const listener = { onPhase: () => {}, onStored: (books: number) => (stored += books) };
    const end = await importBatches(
      iterate(batches),
      { client: cancelling, sleep, now: () => now },
      listener,
      cancel.signal,
    );
    assert.deepEqual(end, { kind: 'cancelled', unconfirmed: undefined });
    await assertStored(batches.slice(0, 2));
  });

  test('that is cancelled with an unconfirmed batch reports it, and confirms it when it is continued', async () => {
    for (const outcome of ['lost', 'unconfirmed'] as const) {
      const batches = batchesOf(3, 5);
      outcomes = ['stored', outcome];
      stored = 0;
      cancel = new AbortController();
      listFailures = 0;
      const cancelling: BookClient = {
        ...failing,
        list(...given) {
          if (sent === 2) {
            cancel.abort();
            listFailures = 1;
          }
          return failing.list(...given);
        },
      };
      const dependencies = { client: cancelling, sleep, now: () => now };
      const listener = { onPhase: () => {}, onStored: (books: number) => (stored += books) };
      const end = await importBatches(iterate(batches), dependencies, listener, cancel.signal);
      assert.ok(end.kind === 'cancelled' && end.unconfirmed);
      assert.equal(end.unconfirmed.batch, batches[1]);
      assert.equal(stored, 5);
      cancel = new AbortController();
      assert.deepEqual(await run(batches.slice(1), end.unconfirmed), { kind: 'done' });
      await assertStored(batches);
      await Promise.all((await all(client.list())).map(({ id }) => client.delete(id)));
      sent = 0;
    }
  });
});

function batchesOf(count: number, size: number): Batch[] {
  return Array.from({ length: count }, (_batch, batch) => ({
    books: Array.from({ length: size }, (_book, n) => ({ title: `Book ${batch}`, author: '', year: n % 7 })),
    firstLine: batch * size + 1,
    lastLine: (batch + 1) * size,
  }));
}

function rejection(status: number, mayHaveHappened: boolean): RefusedError {
  return new RefusedError({
    status,
    message: '',
    mayHaveHappened,
    retryAfterSeconds: undefined,
    invalidIndex: undefined,
    method: 'POST',
    path: '/books',
    detail: undefined,
    requestId: undefined,
  });
}

async function* iterate<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const result: Item[] = [];
  for await (const item of items) result.push(item);
  return result;
}
