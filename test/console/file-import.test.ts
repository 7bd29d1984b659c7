import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type BookClient, createClient, NoResponseError, RefusedError } from '../../client/index.ts';
import type { Batch } from '../../console/src/state/files/batches.ts';
import { type ImportEnd, importBatches, type Phase } from '../../console/src/state/files/import-batches.ts';
import { PASSWORD, type Service, startService, USERNAME } from '../../testkit/service.ts';

/** The outcome of an attempt. `unconfirmed` and `lost` ones get no response, and only the former are stored. */
type Outcome = 'stored' | 'unconfirmed' | 'lost' | 'busy' | 'rejected';

describe('An import', () => {
  let service: Service;
  let client: BookClient;
  before(async () => {
    service = await startService();
    client = createClient({ url: service.url, username: USERNAME, password: PASSWORD });
  });
  after(() => service[Symbol.asyncDispose]());

  /** The outcomes of the next attempts; later ones are stored. */
  let outcomes: Outcome[] = [];
  let phases: Phase[] = [];
  let stored = 0;
  let sent = 0;
  let imports = 0;
  let cancel = new AbortController();
  /** The number of attempts after which the import is cancelled. */
  let cancelAfter = Number.POSITIVE_INFINITY;
  beforeEach(async () => {
    for await (const { id } of client.list()) await client.delete(id);
    [outcomes, phases, stored, sent, cancelAfter] = [[], [], 0, 0, Number.POSITIVE_INFINITY];
    cancel = new AbortController();
    imports++;
  });

  /** A client with a failing connection. */
  const createMany: BookClient['createMany'] = async (books, options) => {
    if (++sent === cancelAfter) cancel.abort();
    const outcome = outcomes.shift() ?? 'stored';
    if (outcome === 'stored') return await client.createMany(books, options);
    if (outcome === 'unconfirmed') await client.createMany(books, options);
    if (outcome === 'busy') throw rejection(429, false);
    if (outcome === 'rejected') throw rejection(400, false);
    throw outcome === 'lost' ? rejection(503, true) : new NoResponseError('POST /books', 'network', true);
  };

  async function run(batches: readonly Batch[]): Promise<ImportEnd> {
    const dependencies = { client: { createMany }, sleep: async () => {}, keyPrefix: `import-${imports}` };
    const listener = {
      onPhase: (phase: Phase) => phases.at(-1) === phase || phases.push(phase),
      onStored: ({ length }: readonly unknown[]) => {
        stored += length;
      },
    };
    return await importBatches(iterate(batches), dependencies, listener, cancel.signal);
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
    assert.deepEqual([phases, sent], [['sending'], 3]);
  });

  test('sends a batch without a response again, and stores it once, also if others have the same books', async () => {
    const [batch] = batchesOf(1, 10);
    const batches = Array.from({ length: 4 }, (_, index) => ({ ...(batch as Batch), firstLine: index }));
    outcomes = ['unconfirmed', 'lost', 'stored', 'unconfirmed', 'busy', 'lost'];
    assert.deepEqual(await run(batches), { kind: 'done' });
    await assertStored(batches);
    assert.deepEqual([sent, [...new Set(phases)]], [9, ['sending', 'waiting']]);
  });

  test('ends when the service rejects a batch, and reports that batch', async () => {
    const batches = batchesOf(3, 5);
    outcomes = ['stored', 'rejected'];
    const end = await run(batches);
    assert.ok(end.kind === 'rejected' && end.error.status === 400);
    assert.equal(end.batch, batches[1]);
    await assertStored(batches.slice(0, 1));
  });

  test('that is cancelled ends after the current batch, and can be continued', async () => {
    for (const outcome of ['stored', 'lost', 'unconfirmed'] as const) {
      const batches = batchesOf(3, 5);
      [outcomes, cancelAfter, sent, stored] = [['stored', outcome], 2, 0, 0];
      cancel = new AbortController();
      const isConfirmed = outcome === 'stored';
      const unconfirmed = isConfirmed ? undefined : batches[1];
      assert.deepEqual(await run(batches), { kind: 'cancelled', unconfirmed });
      cancel = new AbortController();
      assert.deepEqual(await run(batches.slice(isConfirmed ? 2 : 1)), { kind: 'done' });
      await assertStored(batches);
      for await (const { id } of client.list()) await client.delete(id);
      imports++;
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
