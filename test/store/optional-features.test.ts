import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { Client, DatabaseError } from 'pg';
import { createDatabase } from '../../testkit/postgres.ts';
import { openStoreAt, searchAll } from '../../testkit/stores.ts';

const BOOK = { title: 'Titus Groan', author: 'Mervyn Peake', year: 1946 };
const ALL = { yearFrom: -10_000, yearTo: 10_000, sort: 'title', isDescending: false } as const;

// A feature can become available, for example when a privilege is granted.
describe('A rejected feature is tried again after a minute', () => {
  test('prepared statements', async (context) => {
    await using database = await createDatabase();
    using rejections = rejectStatements(({ name }) => name !== undefined);
    await using store = await openStoreAt(database.url);
    const book = await store.create(BOOK);
    assert.deepEqual(await store.find(book.id), book);
    assert.equal(rejections.count, 1);

    passMinute(context);
    assert.deepEqual(await store.find(book.id), book);
    assert.equal(rejections.count, 2);
  });

  test('prepared statements, except those invalidated by an ALTER TABLE', async (context) => {
    await using database = await createDatabase();
    await using store = await openStoreAt(database.url);
    const book = await store.create(BOOK);
    const finds: (string | undefined)[] = [];
    using _ = rejectStatements(({ name, text }) => {
      if (text.includes('from books')) finds.push(name);
      return false;
    });
    const find = async () => assert.deepEqual(await store.find(book.id), book);
    await find();
    await database.query('alter table books alter title type varchar, alter year type integer');
    finds.length = 0;
    await find();
    assert.deepEqual(
      finds.map((name) => name !== undefined),
      [true, false],
    );

    passMinute(context);
    await find();
    await find();
    assert.deepEqual(
      finds.slice(2).map((name) => name !== undefined),
      [true, true],
    );
  });

  test('the search index, while another session holds locks: writers do not wait for each attempt', async (context) => {
    await using database = await createDatabase();
    await using store = await openStoreAt(database.url);
    await store.create(BOOK);
    let attempts = 0;
    using _ = rejectStatements(({ text }) => {
      if (text.includes("lock_timeout = '1s'")) attempts++;
      return false;
    });
    const search = async () => assert.equal((await searchAll(store, { ...ALL, q: 'titus' }, 10)).length, 1);
    const writer = new Client(database.url);
    await writer.connect();
    await writer.query('begin; update books set year = 1');
    for (let count = 1; count <= 3; count++)
      await assert.rejects(search(), { name: 'StoreUnavailable', reason: '55P03' });
    assert.equal(attempts, 1);
    await writer.query('rollback');
    await writer.end();

    passMinute(context);
    await search();
    assert.equal(attempts, 2);
    assert.deepEqual(await database.query("select to_regclass('book_search')::text as name"), [
      { name: 'book_search' },
    ]);
  });
});

/** Sets the clock forward. */
function passMinute({ mock }: TestContext): void {
  const now = performance.now.bind(performance);
  mock.method(performance, 'now', () => now() + 60_000);
}

/** Rejects some statements of all clients, as PgBouncer rejects a prepared statement that it does not know, until disposed. */
function rejectStatements(isRejected: (statement: Sent) => boolean): Disposable & { readonly count: number } {
  const { query } = Client.prototype as { query: (this: Client, ...values: unknown[]) => unknown };
  const rejections = {
    count: 0,
    [Symbol.dispose]() {
      Object.assign(Client.prototype, { query });
    },
  };
  Object.assign(Client.prototype, {
    query(this: Client, ...values: unknown[]) {
      const [first, second] = values as [string | Sent, unknown];
      if (!isRejected(typeof first === 'string' ? { text: first } : first)) return query.apply(this, values);
      rejections.count++;
      const error = Object.assign(new DatabaseError('unknown statement', 0, 'error'), { code: '26000' });
      const callback = [second, values[2]].find((value) => typeof value === 'function') as
        | Callback
        | undefined;
      if (!callback) return Promise.reject(error);
      setImmediate(callback, error);
      return undefined;
    },
  });
  return rejections;
}

/** A statement that is passed to the driver. */
interface Sent {
  readonly text: string;
  readonly name?: string;
}

type Callback = (error: Error) => void;
