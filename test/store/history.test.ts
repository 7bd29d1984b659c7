import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Client } from 'pg';
import type { BookHistory, Change } from '../../src/book/book-history.ts';
import type { BookStore } from '../../src/book/book-store-interface.ts';
import { type Address, type Engine, engines } from '../support/engines.ts';
import { query } from '../support/sql.ts';
import { assertSameJson, createMany, engineAt } from '../support/stores.ts';

const DUNE = { title: 'Dune', author: 'Frank Herbert', year: 1965 };
const DAYS = 90;

const LOG = { SQLite: 'book_changes', PostgreSQL: 'book_history_changes' };

/** Opens a store that records its history, or one that does not. */
async function openWithHistory(dbUrl: string, days: number | undefined = DAYS) {
  const store = await (await engineAt(dbUrl)).openStore(undefined, days);
  return store as BookStore & { readonly history: BookHistory };
}

async function openWithoutHistory({ dbUrl }: Address): Promise<BookStore> {
  return (await engineAt(dbUrl)).openStore();
}

/** All changes after a position, in pages of two. */
async function readAll(history: BookHistory, after?: number): Promise<Change[]> {
  const changes: Change[] = [];
  for (let position = after; ; position = changes.at(-1)?.position) {
    const page = await history.read({ after: position, limit: 2 });
    if (page.changes.length === 0) return changes;
    changes.push(...page.changes);
  }
}

const describeChanges = (changes: readonly Change[]) =>
  changes.map(({ type, book }) => `${type} ${book.id} ${book.title} ${book.year}`);

/** The number of books that a search finds with the index. */
async function find(store: BookStore): Promise<number> {
  const dunes = { sort: 'year', isDescending: false, q: 'dune', yearFrom: -9_999, yearTo: 9_999 } as const;
  return (await store.search(dunes, 100)).count;
}

async function openClient({ dbUrl }: Address): Promise<Client> {
  const client = new Client(dbUrl);
  await client.connect();
  return client;
}

/** A transaction that disposing ends. */
async function openTransaction(address: Address) {
  const client = await openClient(address);
  await client.query('begin');
  return {
    query: (text: string) => client.query(text),
    [Symbol.asyncDispose]: () => client.end(),
  };
}

function suite(engine: Engine): void {
  test('has every change of the service in order, and none where nothing changed', async () => {
    await using address = await engine.createAddress();
    await using store = await openWithHistory(address.dbUrl);
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
    const changes = await readAll(store.history);
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
    assert.equal(changes.at(-1)?.position, await store.history.last());
    const ofBook = await store.history.read({ id, limit: 2 });
    assert.deepEqual(describeChanges(ofBook.changes), ['deleted 1 DUNE 1966', 'updated 1 DUNE 1966']);
    const earlier = await store.history.read({ id, limit: 9, after: ofBook.changes[1]?.position });
    assert.deepEqual(describeChanges(earlier.changes), ['updated 1 Dune 1966', 'created 1 Dune 1965']);
  });

  test('has the changes of other programs, also NULL and new ids, and nothing of a transaction that was rolled back', async () => {
    await using address = await engine.createAddress();
    await using store = await openWithHistory(address.dbUrl);
    await createMany(store, [DUNE, { ...DUNE, year: 2 }]);
    const { last: after } = await store.history.read({ limit: 1 });
    const isSqlite = engine.name === 'SQLite';
    await query(address.dbUrl, 'update books set id = id + 10 where id = 1');
    await query(address.dbUrl, 'update books set title = title');
    await query(address.dbUrl, `insert into books (id, title, author, year) values (50, 'Emma', '', 1815)`);
    await query(address.dbUrl, isSqlite ? 'delete from books' : 'truncate books');
    const changes = await readAll(store.history, after);
    assert.deepEqual(describeChanges(changes).slice(0, 2).toSorted(), [
      'created 11 Dune 1965',
      'deleted 1 Dune 1965',
    ]);
    assert.deepEqual(describeChanges(changes).slice(2, 3), ['created 50 Emma 1815']);
    assert.deepEqual(describeChanges(changes).slice(3).toSorted(), [
      'deleted 11 Dune 1965',
      'deleted 2 Dune 2',
      'deleted 50 Emma 1815',
    ]);
  });

  test('is turned on once by several processes', async () => {
    await using address = await engine.createAddress();
    await (await openWithoutHistory(address))[Symbol.asyncDispose]();
    const stores = await Promise.all([1, 2, 3].map(() => openWithHistory(address.dbUrl)));
    try {
      for (const store of stores) await store.create(DUNE);
      for (const store of stores) assert.equal((await readAll(store.history)).length, 3);
    } finally {
      for (const store of stores) await store[Symbol.asyncDispose]();
    }
  });

  test('continues after a restart, and is another one when it was off meanwhile', async () => {
    await using address = await engine.createAddress();
    let position: number | undefined;
    {
      await using store = await openWithHistory(address.dbUrl);
      await store.create(DUNE);
      position = (await readAll(store.history)).at(-1)?.position;
    }
    {
      await using store = await openWithHistory(address.dbUrl, 10);
      await store.create(DUNE);
      assert.deepEqual(describeChanges(await readAll(store.history, position)), ['created 2 Dune 1965']);
      position = await store.history.last();
    }
    {
      await using running = await openWithHistory(address.dbUrl);
      await using store = await openWithoutHistory(address);
      assert.equal(store.history, undefined);
      await store.create(DUNE);
      await assert.rejects(running.history.read({ limit: 9, after: position }), { name: 'StoreUnavailable' });
    }
    await using store = await openWithHistory(address.dbUrl);
    await store.create(DUNE);
    const { removed, changes } = await store.history.read({ limit: 9 });
    assert.ok(removed > (position ?? 0));
    assert.deepEqual(describeChanges(changes), ['created 4 Dune 1965']);
  });

  test('finds what searches find, whether it is on or off', async () => {
    await using address = await engine.createAddress();
    for (const [round, days] of [undefined, DAYS, undefined, DAYS].entries()) {
      await using store = await (await engineAt(address.dbUrl)).openStore(undefined, days);
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
    await using store = await openWithHistory(address.dbUrl);
    const title = 'x'.repeat(700_000);
    await createMany(store, [DUNE, { ...DUNE, title }, { ...DUNE, title }]);
    const { changes } = await store.history.read({ limit: 100 });
    assert.equal(changes.length, 2);
    const next = await store.history.read({ limit: 100, after: changes[1]?.position });
    assert.deepEqual(
      next.changes.map(({ book }) => book.id),
      [3],
    );
  });

  test('restores a book as it was deleted, once', async () => {
    await using address = await engine.createAddress();
    await using store = await openWithHistory(address.dbUrl);
    const { id } = await store.create(DUNE);
    assert.equal(await store.history.restore(id), 'exists');
    assert.equal(await store.history.restore(99), undefined);
    await store.update(id, { year: 7 });
    await store.delete(id);
    const restored = await Promise.all([store.history.restore(id), store.history.restore(id)]);
    assertSameJson(restored, [{ id, ...DUNE, year: 7 }, 'exists']);
    assertSameJson(await store.find(id), { id, ...DUNE, year: 7 });
    assert.equal((await store.create(DUNE)).id, id + 1);
    const { changes } = await store.history.read({ id, limit: 1 });
    assert.deepEqual(describeChanges(changes), ['created 1 Dune 7']);
  });

  test('removes what is older than its days', async () => {
    await using address = await engine.createAddress();
    {
      await using store = await openWithHistory(address.dbUrl);
      await createMany(store, [DUNE, DUNE, DUNE]);
      await query(address.dbUrl, `update ${LOG[engine.name]} set at = ${AGED[engine.name]} where id <= 2`);
    }
    await using store = await openWithHistory(address.dbUrl, 1);
    let page = await store.history.read({ limit: 9 });
    while (page.changes.length > 1) page = await store.history.read({ limit: 9 });
    assert.deepEqual(describeChanges(page.changes), ['created 3 Dune 1965']);
    assert.equal(page.changes[0]?.position, page.removed + 1);
    const rows = () => query(address.dbUrl, `select note from ${LOG[engine.name]}`);
    while ((await rows()).length > 1);
    assert.equal(await store.history.restore(1), 'exists');
  });
}

const AGED = {
  SQLite: '(unixepoch() - 86401) * 1000',
  PostgreSQL: `now() - interval '86401 seconds'`,
};

for (const engine of engines) {
  describe(`The history on ${engine.name}`, () => suite(engine));
}

describe('The history on SQLite', () => {
  const engine = engines.find(({ name }) => name === 'SQLite') as Engine;

  test('is another one after a backup was restored, and has its changes', async () => {
    await using address = await engine.createAddress();
    const file = `${address.dbUrl.slice('sqlite:'.length)}.backup`;
    let before: string;
    {
      await using store = await openWithHistory(address.dbUrl);
      await store.create(DUNE);
      before = (await store.history.read({ limit: 1 })).log;
    }
    const opened = await engineAt(address.dbUrl);
    await opened.backUp(file, () => {});
    await opened.restore(file, () => {});
    await using store = await openWithHistory(address.dbUrl);
    const { log, changes } = await store.history.read({ limit: 1 });
    assert.notEqual(log, before);
    assert.deepEqual(describeChanges(changes), ['created 1 Dune 1965']);
  });

  test('has the changes of an adopted table, whatever its columns hold', async () => {
    await using address = await engine.createAddress();
    await query(
      address.dbUrl,
      'create table books (id integer primary key autoincrement, title text, author text, year integer)',
    );
    await using store = await openWithHistory(address.dbUrl);
    await query(address.dbUrl, `insert into books (title, author, year) values (x'4475', 5, 1.5)`);
    await query(address.dbUrl, 'delete from books');
    assert.deepEqual(describeChanges(await readAll(store.history)), ['created 1 Du 1', 'deleted 1 Du 1']);
  });
});

describe('The history on PostgreSQL', () => {
  const engine = engines.find(({ name }) => name === 'PostgreSQL') as Engine;

  test('shows a change only when no open transaction can come before it', async () => {
    await using address = await engine.createAddress();
    await using store = await openWithHistory(address.dbUrl);
    await store.create(DUNE);
    const [first, second] = [await openClient(address), await openClient(address)];
    await first.query('begin');
    await first.query(`insert into books (title, author, year) values ('first', '', 1)`);
    await second.query('begin');
    await second.query(`insert into books (title, author, year) values ('second', '', 2)`);
    await second.query('commit');
    await first.query(`insert into books (title, author, year) values ('third', '', 3)`);
    await store.create(DUNE);
    assert.deepEqual(describeChanges(await readAll(store.history)), ['created 1 Dune 1965']);
    await first.query('savepoint one');
    await first.query(`update books set year = 9 where id = 1`);
    await first.query('rollback to one');
    await first.query('commit');
    assert.deepEqual(describeChanges(await readAll(store.history)), [
      'created 1 Dune 1965',
      'created 2 first 1',
      'created 3 second 2',
      'created 4 third 3',
      'created 5 Dune 1965',
    ]);
    await first.query('begin');
    await first.query('delete from books where id = 1');
    await store.create(DUNE);
    assert.equal((await readAll(store.history)).length, 5);
    await first.query('rollback');
    assert.equal((await readAll(store.history)).length, 6);
    await Promise.all([first.end(), second.end()]);
  });

  test('accepts the position of a change that was read, also while an open transaction began before it', async () => {
    await using address = await engine.createAddress();
    await using store = await openWithHistory(address.dbUrl);
    await using late = await openTransaction(address);
    await late.query(`insert into books (title, author, year) values ('late', '', 1)`);
    const [{ key = 0 } = {}] = await query(
      address.dbUrl,
      `select (classid::bigint << 32) + objid::bigint as key from pg_locks where locktype = 'advisory' and objsubid = 1`,
    );
    await late.query('rollback');
    await createMany(store, [DUNE, DUNE]);
    const last = await store.history.last();
    // As if the transaction had been paused between reading the last note and announcing it.
    await late.query('begin');
    await late.query(`select pg_advisory_xact_lock_shared(${String(key)})`);
    const page = await store.history.read({ limit: 9, after: last });
    assert.ok(page.last < last && page.newest === last, JSON.stringify(page));
  });

  test('of one schema does not depend on that of another one', async () => {
    await using address = await engine.createAddress();
    await using store = await openWithHistory(address.dbUrl);
    await query(address.dbUrl, 'create schema other');
    await using other = await openWithHistory(`${address.dbUrl}?options=-csearch_path%3Dother`);
    for (const year of [1, 2, 3]) await store.create({ ...DUNE, year });
    await using open = await openTransaction(address);
    await open.query(`insert into public.books (title, author, year) values ('first', '', 1)`);
    await open.query(`insert into other.books (title, author, year) values ('first', '', 1)`);
    for (const { history } of [store, other]) {
      const last = await history.last();
      await (history === store.history ? store : other).create(DUNE);
      assert.equal(await history.last(), last, 'a transaction of both is open');
    }
    await open.query('rollback');
    await open.query('begin');
    await open.query(`insert into other.books (title, author, year) values ('first', '', 1)`);
    const last = await store.history.last();
    await store.create(DUNE);
    assert.ok((await store.history.last()) > last, 'a transaction of the other one is open');
  });

  test('restores no state before the last deletion while another program restores the book, too', async () => {
    await using address = await engine.createAddress();
    await using store = await openWithHistory(address.dbUrl);
    const { id } = await store.create(DUNE);
    await store.delete(id);
    await using other = await openTransaction(address);
    await other.query('update book_history_changes set at = at');
    await other.query(`insert into books (id, title, author, year) values (${id}, 'restored', '', 1)`);
    const restoring = store.history.restore(id);
    const waiting = "select 1 from pg_locks where not granted and locktype = 'transactionid'";
    while ((await query(address.dbUrl, waiting)).length === 0);
    await other.query(`update books set title = 'newer' where id = ${id}`);
    await other.query(`delete from books where id = ${id}`);
    await other.query('commit');
    assert.equal(await restoring, 'exists');
    assertSameJson(await store.history.restore(id), { id, title: 'newer', author: '', year: 1 });
  });

  test('that was dropped by hand is off after a start without it, so that books can be written', async () => {
    await using address = await engine.createAddress();
    await (await openWithHistory(address.dbUrl))[Symbol.asyncDispose]();
    await query(address.dbUrl, 'drop table book_history, book_history_changes');
    await using store = await openWithoutHistory(address);
    assertSameJson(await store.create(DUNE), { id: 1, ...DUNE });
  });

  test('of a copy of the table has another identity', async () => {
    await using address = await engine.createAddress();
    await using store = await openWithHistory(address.dbUrl);
    const { log } = await store.history.read({ limit: 1 });
    assert.equal((await store.history.read({ limit: 1 })).log, log);
    await query(address.dbUrl, 'create table copy (like book_history including all)');
    await query(address.dbUrl, 'insert into copy select * from book_history');
    await query(address.dbUrl, 'drop table book_history');
    await query(address.dbUrl, 'alter table copy rename to book_history');
    assert.notEqual((await store.history.read({ limit: 1 })).log, log);
  });
});
