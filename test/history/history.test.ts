import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { UPDATED_BYTES_MAX } from '../../src/book/book-store.ts';
import type { Book } from '../../src/book/contract.ts';
import type { BookHistory } from '../../src/history/book-history.ts';
import { type Engine, engines } from '../../testkit/engines.ts';
import { query } from '../../testkit/sql.ts';
import {
  assertSameJson,
  createMany,
  listBooks,
  type SearchableStore,
  searchAll,
  updateMany,
} from '../../testkit/stores.ts';
import {
  DUNE,
  describeChanges,
  openWithHistory,
  openWithoutHistory,
  readAll,
  readPage,
  restore,
  whenAvailable,
} from './stores.ts';

const LOG = { SQLite: 'book_changes', PostgreSQL: 'book_history_changes' };

/** The number of books that a search finds with the index. */
async function find(store: SearchableStore): Promise<number> {
  const dunes = { sort: 'year', isDescending: false, q: 'dune', yearFrom: -9_999, yearTo: 9_999 } as const;
  return (await searchAll(store, dunes, 100)).length;
}

/** The changes of a book, the last one first. */
async function historyOf(history: BookHistory, id: number): Promise<string[]> {
  return describeChanges((await readPage(history, { of: id })).changes);
}

function restoreMany(history: BookHistory, ids: readonly number[]) {
  return history.restore({ deletions: ids.map((id) => ({ id })), bytesMax: UPDATED_BYTES_MAX });
}

async function deletedBooks(history: BookHistory): Promise<string[]> {
  return describeChanges((await readPage(history, { of: 'deleted' })).changes);
}

/** Compares books by their places in a list. */
function byPlaceIn(list: readonly Book[]): (one: Book, other: Book) => number {
  const places = new Map(list.map(({ id }, place) => [id, place]));
  return (one, other) => (places.get(one.id) ?? 0) - (places.get(other.id) ?? 0);
}

function suite(engine: Engine): void {
  const log = LOG[engine.name];
  const dropTrigger = (name: string) =>
    `drop trigger ${name}${engine.name === 'PostgreSQL' ? ' on books' : ''}`;

  test('has every change of the service in order, and none where nothing changed', async () => {
    await using address = await engine.createAddress();
    await using opened = await openWithHistory(address.dbUrl);
    const { store, history } = opened;
    const before = Date.now();
    const { id } = await store.create(DUNE);
    await store.createOnce({ ...DUNE, year: 1 }, 'key');
    await store.update(id, { year: 1966 });
    await store.update(id, { year: 1966 });
    await store.updateExpected({ id, ...DUNE, year: 1966 }, { title: 'DUNE' });
    await createMany(store, [
      { ...DUNE, year: 2 },
      { ...DUNE, year: 3 },
    ]);
    await store.delete(id);
    await store.delete(id);
    await store.createOnce({ ...DUNE, year: 1 }, 'key');
    const changes = await readAll(history);
    assert.deepEqual(describeChanges(changes), [
      'created 1 Dune 1965',
      'created 2 Dune 1',
      'updated 1 Dune 1966',
      'updated 1 DUNE 1966',
      'created 3 Dune 2',
      'created 4 Dune 3',
      'deleted 1 DUNE 1966',
    ]);
    for (const { at } of changes) assert.ok(at >= before - 1_000 && at <= Date.now() + 1_000, `${at}`);
    assertSameJson(changes.at(-1)?.cursor, await history.last());
    const ofBook = await readPage(history, { of: id, limit: 2 });
    assert.deepEqual(describeChanges(ofBook.changes), ['deleted 1 DUNE 1966', 'updated 1 DUNE 1966']);
    const earlier = await readPage(history, { of: id, after: ofBook.next });
    assert.deepEqual(describeChanges(earlier.changes), ['updated 1 Dune 1966', 'created 1 Dune 1965']);
  });

  test('has bulk changes of 1,000 books in the order of the request: updates, deletes and restores', async () => {
    await using address = await engine.createAddress();
    await using opened = await openWithHistory(address.dbUrl);
    const { store, history } = opened;
    const books = await createMany(
      store,
      Array.from({ length: 1_000 }, () => DUNE),
    );
    // Neither ascending nor descending.
    const updates = books.map((_, index) => {
      const id = books[(index * 387) % books.length]?.id ?? 0;
      return index % 2 === 0 ? { id, year: index } : { id, isDeleted: true as const };
    });
    const after = await history.last();
    await updateMany(store, updates.slice(0, 300), updates.slice(300));
    const { changes } = await readPage(history, { after, limit: 1_000 });
    assert.deepEqual(
      describeChanges(changes),
      updates.map(({ id, year }) =>
        year === undefined ? `deleted ${id} Dune 1965` : `updated ${id} Dune ${year}`,
      ),
    );
    const deleted = updates.flatMap(({ id, year }) => (year === undefined ? [id] : []));
    const restoredAfter = await history.last();
    await restoreMany(history, deleted);
    const restored = await readPage(history, { after: restoredAfter, limit: 1_000 });
    assert.deepEqual(
      describeChanges(restored.changes),
      deleted.map((id) => `created ${id} Dune 1965`),
    );
  });

  test('has the changes of other programs, also NULL and new ids, and nothing of a transaction that was rolled back', async () => {
    await using address = await engine.createAddress();
    await using opened = await openWithHistory(address.dbUrl);
    const { store, history } = opened;
    await createMany(store, [DUNE, { ...DUNE, year: 2 }]);
    const after = await history.last();
    const isSqlite = engine.name === 'SQLite';
    await query(address.dbUrl, 'update books set id = id + 10 where id = 1');
    await query(address.dbUrl, 'update books set title = title');
    await query(address.dbUrl, `insert into books (id, title, author, year) values (50, 'Emma', '', 1815)`);
    await query(address.dbUrl, isSqlite ? 'delete from books' : 'truncate books');
    const changes = describeChanges(await readAll(history, after));
    assert.deepEqual(changes.slice(0, 2).toSorted(), ['created 11 Dune 1965', 'deleted 1 Dune 1965']);
    assert.deepEqual(changes.slice(2, 3), ['created 50 Emma 1815']);
    assert.deepEqual(changes.slice(3).toSorted(), [
      'deleted 11 Dune 1965',
      'deleted 2 Dune 2',
      'deleted 50 Emma 1815',
    ]);
  });

  test('is turned on once by several processes', async () => {
    await using address = await engine.createAddress();
    await (await openWithoutHistory(address.dbUrl))[Symbol.asyncDispose]();
    const opened = await Promise.all([1, 2, 3].map(() => openWithHistory(address.dbUrl)));
    try {
      for (const { store } of opened) await store.create(DUNE);
      for (const { history } of opened) assert.equal((await readAll(history)).length, 3);
    } finally {
      for (const one of opened) await one[Symbol.asyncDispose]();
    }
  });

  test('continues after a restart', async () => {
    await using address = await engine.createAddress();
    let after: Awaited<ReturnType<BookHistory['last']>>;
    {
      await using opened = await openWithHistory(address.dbUrl);
      await opened.store.create(DUNE);
      after = await opened.history.last();
    }
    await using opened = await openWithHistory(address.dbUrl, { days: 10 });
    await opened.store.create(DUNE);
    assert.deepEqual(describeChanges(await readAll(opened.history, after)), ['created 2 Dune 1965']);
    assert.deepEqual(describeChanges(await readAll(opened.history)), [
      'created 1 Dune 1965',
      'created 2 Dune 1965',
    ]);
  });

  test('that was off keeps what it has, says where changes are missing, and followers begin anew', async () => {
    await using address = await engine.createAddress();
    await using opened = await openWithHistory(address.dbUrl);
    const { store, history } = opened;
    await createMany(store, [DUNE, DUNE, DUNE]);
    await store.update(2, { year: 2 });
    await store.delete(3);
    const before = await history.last();
    {
      await using other = await openWithoutHistory(address.dbUrl);
      await other.update(1, { year: 1 });
      for (const call of [
        () => history.read({ limit: 9 }),
        () => history.read({ limit: 9, of: 1 }),
        () => history.read({ limit: 9, of: 'deleted' }),
        () => restore(history, 3),
        () => history.last(),
      ])
        await assert.rejects(call, { name: 'StoreUnavailable' });
    }
    await using again = await openWithHistory(address.dbUrl);
    await again.store.update(1, { year: 7 });
    for (const one of [history, again.history]) {
      assert.equal(await whenAvailable(() => one.read({ limit: 9, after: before })), 'removed');
      assert.deepEqual(describeChanges(await readAll(one)), ['updated 1 Dune 7']);
      assert.deepEqual(await historyOf(one, 1), ['updated 1 Dune 7', 'created 1 Dune 1965 gap']);
      assert.deepEqual(await historyOf(one, 2), ['updated 2 Dune 2 gap', 'created 2 Dune 1965']);
      assert.deepEqual(await deletedBooks(one), ['deleted 3 Dune 1965']);
    }
    assertSameJson(await restore(history, 3), { id: 3, ...DUNE });
  });

  test('accepts the cursor of each change and of none that it does not have', async () => {
    await using address = await engine.createAddress();
    await using opened = await openWithHistory(address.dbUrl);
    const { store, history } = opened;
    await createMany(store, [DUNE, DUNE]);
    const [first, last] = await readAll(history);
    assert.ok(first && last);
    const { position, nonce } = last.cursor;
    assert.equal((await readPage(history, { after: first.cursor })).changes.length, 1);
    for (const unknown of [
      { position, nonce: first.cursor.nonce },
      { position: position + 1, nonce },
      { position: Number.MAX_SAFE_INTEGER, nonce },
    ])
      assert.equal(await history.read({ limit: 9, after: unknown }), 'unknown');
  });

  test('finds what searches find, whether it is on or off', async () => {
    await using address = await engine.createAddress();
    for (const [round, isOn] of [false, true, false, true].entries()) {
      await using resources = new AsyncDisposableStack();
      const store = isOn
        ? resources.use(await openWithHistory(address.dbUrl)).store
        : resources.use(await openWithoutHistory(address.dbUrl));
      const { id } = await store.create(DUNE);
      assert.equal(await find(store), round + 1);
      await store.update(id, { title: 'Emma' });
      assert.equal(await find(store), round);
      await store.update(id, { title: 'Dune' });
      assert.equal(await find(store), round + 1);
    }
  });

  test('pages end where texts are long', async () => {
    await using address = await engine.createAddress();
    await using opened = await openWithHistory(address.dbUrl);
    const { store, history } = opened;
    // Of another program: the service takes shorter ones.
    const title = 'x'.repeat(700_000);
    await createMany(store, [DUNE, { ...DUNE, title }, { ...DUNE, title }]);
    const page = await readPage(history);
    assert.equal(page.changes.length, 2);
    const rest = await readPage(history, { after: page.next });
    assert.deepEqual(
      rest.changes.map(({ book }) => book.id),
      [3],
    );
    await store.update(2, { year: 1 });
    const ofBook = await readPage(history, { of: 2 });
    assert.deepEqual(
      ofBook.changes.map(({ type }) => type),
      ['updated'],
    );
    const earlier = await readPage(history, { of: 2, after: ofBook.next });
    assert.deepEqual(
      earlier.changes.map(({ type }) => type),
      ['created'],
    );
  });

  test('restores a book as it was deleted, once', async () => {
    await using address = await engine.createAddress();
    await using opened = await openWithHistory(address.dbUrl);
    const { store, history } = opened;
    const { id } = await store.create(DUNE);
    assert.equal(await restore(history, id), 'exists');
    assert.equal(await restore(history, 99), 'absent');
    await store.update(id, { year: 7 });
    await store.delete(id);
    const restored = await Promise.all([restore(history, id), restore(history, id)]);
    assertSameJson(restored, [{ id, ...DUNE, year: 7 }, 'exists']);
    assertSameJson(await store.find(id), { id, ...DUNE, year: 7 });
    assert.equal((await store.create(DUNE)).id, id + 1);
    const { changes } = await readPage(history, { of: id, limit: 1 });
    assert.deepEqual(describeChanges(changes), ['created 1 Dune 7']);
  });

  test('restores all of several books as they were deleted, or none', async () => {
    await using address = await engine.createAddress();
    await using opened = await openWithHistory(address.dbUrl);
    const { store, history } = opened;
    // More than one statement restores on PostgreSQL.
    const count = 2_500;
    await createMany(
      store,
      Array.from({ length: count }, (_, index) => ({ ...DUNE, year: index + 1 })),
    );
    const ids = Array.from({ length: count }, (_, index) => count - index);
    await store.update(count, { title: 'DUNE' });
    await Promise.all(ids.slice(0, -1).map((id) => store.delete(id)));
    assert.deepEqual(await restoreMany(history, ids), { fault: 'exists', index: count - 1 });
    await store.delete(1);
    assert.deepEqual(await restoreMany(history, [...ids, 9_999]), { fault: 'absent', index: count });
    assert.deepEqual(await restoreMany(history, [9_999, 2]), { fault: 'absent', index: 0 });
    assert.equal(await store.find(2), undefined);
    const results = await Promise.all([restoreMany(history, ids), restoreMany(history, ids.toReversed())]);
    const [restored] = results.filter((result) => !('fault' in result));
    assert.deepEqual(
      results.filter((result) => 'fault' in result),
      [{ fault: 'exists', index: 0 }],
    );
    assert.ok(restored && !('fault' in restored));
    assertSameJson(restored.toSorted((one, other) => other.id - one.id).slice(0, 2), [
      { id: count, ...DUNE, title: 'DUNE', year: count },
      { id: count - 1, ...DUNE, year: count - 1 },
    ]);
    assert.deepEqual(restored, await listBooks(store).then((books) => books.toSorted(byPlaceIn(restored))));
    assert.deepEqual(await restoreMany(history, []), []);
    const changes = await readPage(history, { of: 'all', limit: count + 1 });
    assert.equal(changes.changes.filter(({ type }) => type === 'created').length, count);
  });

  test('restores none of several books whose texts as JSON are longer than a response may be', async () => {
    await using address = await engine.createAddress();
    await using opened = await openWithHistory(address.dbUrl);
    const { store, history } = opened;
    // A control character has six bytes.
    const book = { title: '\u0001'.repeat(4_096), author: '', year: 0 };
    const count = Math.ceil(UPDATED_BYTES_MAX / (6 * book.title.length));
    await createMany(
      store,
      Array.from({ length: count }, () => book),
    );
    const ids = Array.from({ length: count }, (_, index) => index + 1);
    await Promise.all(ids.map((id) => store.delete(id)));
    const result = await restoreMany(history, ids);
    assert.equal('fault' in result && result.fault, 'too long');
    assert.equal(await store.find(1), undefined);
    assert.equal(((await restoreMany(history, ids.slice(0, 9))) as readonly Book[]).length, 9);
    const [last = 0] = ids.slice(-1);
    const deletions = [{ id: last }];
    const bytesMax = 6 * book.title.length;
    assert.deepEqual(await history.restore({ deletions, bytesMax }), { fault: 'too long', index: 0 });
    assertSameJson(await history.restore({ deletions }), [{ id: last, ...book }]);
  });

  test('lists the last changes of all books first, without gaps of the log, up to the first', async () => {
    await using address = await engine.createAddress();
    await using opened = await openWithHistory(address.dbUrl);
    const { store, history } = opened;
    // The log begins with a gap.
    assert.deepEqual((await readPage(history, { of: 'all' })).changes, []);
    const { id } = await store.create(DUNE);
    await store.update(id, { year: 1 });
    await store.delete(id);
    const first = await readPage(history, { of: 'all', limit: 2 });
    assert.deepEqual(describeChanges(first.changes), ['deleted 1 Dune 1', 'updated 1 Dune 1']);
    const last = await readPage(history, { of: 'all', limit: 2, after: first.next });
    assert.deepEqual(describeChanges(last.changes), ['created 1 Dune 1965']);
  });

  test('undoes a certain deletion only while it is the last change of the book', async () => {
    await using address = await engine.createAddress();
    await using opened = await openWithHistory(address.dbUrl);
    const { store, history } = opened;
    const { id } = await store.create(DUNE);
    const created = await history.last();
    await store.delete(id);
    const deleted = await history.last();
    assert.equal(await restore(history, id, created), 'changed');
    assert.equal(await restore(history, id, { ...deleted, nonce: deleted.nonce ^ 1 }), 'changed');
    await store.create(DUNE);
    await store.delete(2);
    assert.deepEqual(await history.restore({ deletions: [{ id: 2 }, { id, cursor: created }] }), {
      fault: 'changed',
      index: 1,
    });
    assert.deepEqual(await deletedBooks(history), ['deleted 2 Dune 1965', 'deleted 1 Dune 1965']);
    assertSameJson(await restore(history, 2), { id: 2, ...DUNE });
    assertSameJson(await restore(history, id, deleted), { id, ...DUNE });
    assert.deepEqual(await deletedBooks(history), []);
    await store.delete(id);
    assert.equal(await restore(history, id, deleted), 'changed');
  });

  test('removes what is older than its days', async () => {
    await using address = await engine.createAddress();
    {
      await using opened = await openWithHistory(address.dbUrl);
      await createMany(opened.store, [DUNE, DUNE, DUNE]);
      await query(address.dbUrl, `update ${log} set at = ${AGED[engine.name]} where id <= 2`);
    }
    await using opened = await openWithHistory(address.dbUrl, { days: 1 });
    const { history } = opened;
    while ((await readAll(history)).length > 1);
    assert.deepEqual(describeChanges(await readAll(history)), ['created 3 Dune 1965']);
    const rows = () => query(address.dbUrl, `select note from ${log}`);
    while ((await rows()).length > 1);
    assert.equal(await restore(history, 1), 'exists');
  });

  test('tells followers of changes that another program has removed', async () => {
    await using address = await engine.createAddress();
    await using opened = await openWithHistory(address.dbUrl);
    const { store, history } = opened;
    await createMany(store, [DUNE, DUNE, DUNE]);
    const [first, second, third] = await readAll(history);
    await query(address.dbUrl, `delete from ${log} where id = 2`);
    assert.equal(await history.read({ limit: 9, after: first?.cursor }), 'removed');
    for (const { cursor } of [second, third].filter((change) => change !== undefined))
      assert.equal(typeof (await history.read({ limit: 9, after: cursor })), 'object');
    assert.deepEqual(describeChanges(await readAll(history)), ['created 3 Dune 1965']);
  });

  for (const trigger of ['insert', 'update', 'delete']) {
    test(`is put right at the next start when the trigger of ${trigger} was dropped, and followers begin anew`, async () => {
      await using address = await engine.createAddress();
      let before: Awaited<ReturnType<BookHistory['last']>>;
      {
        await using opened = await openWithHistory(address.dbUrl);
        await opened.store.create(DUNE);
        before = await opened.history.last();
      }
      await query(address.dbUrl, dropTrigger(`book_history_${trigger}`));
      await query(
        address.dbUrl,
        "insert into books (title, author, year) values ('Dune', 'Frank Herbert', 2)",
      );
      await using opened = await openWithHistory(address.dbUrl);
      const { store, history } = opened;
      assert.equal(await history.read({ limit: 9, after: before }), 'removed');
      await store.update(1, { year: 3 });
      await store.delete(1);
      await store.create({ ...DUNE, year: 4 });
      assert.deepEqual(describeChanges(await readAll(history)), [
        'updated 1 Dune 3',
        'deleted 1 Dune 3',
        'created 3 Dune 4',
      ]);
    });
  }

  test('begins anew at the next start when its tables were dropped, and books can be written', async () => {
    await using address = await engine.createAddress();
    let before: Awaited<ReturnType<BookHistory['last']>>;
    {
      await using opened = await openWithHistory(address.dbUrl);
      await createMany(opened.store, [DUNE, DUNE]);
      before = await opened.history.last();
    }
    for (const table of [log, 'book_history']) {
      await query(address.dbUrl, `drop table ${table}`);
      await using opened = await openWithHistory(address.dbUrl);
      const { store, history } = opened;
      await store.update(1, { title: table });
      assert.deepEqual(describeChanges(await readAll(history)), [`updated 1 ${table} 1965`]);
      assert.notEqual(typeof (await history.read({ limit: 9, after: before })), 'object');
    }
  });
}

const AGED = {
  SQLite: '(unixepoch() - 86401) * 1000',
  PostgreSQL: `now() - interval '86401 seconds'`,
};

for (const engine of engines) {
  describe(`The history on ${engine.name}`, () => suite(engine));
}
