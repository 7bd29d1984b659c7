import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { StoreUnavailable } from '../../src/book/book-store.ts';
import type { BookHistory, ChangeCursor } from '../../src/history/book-history.ts';
import { openHistory } from '../../src/history/open-history.ts';
import { statementOf } from '../../src/history/postgres/statements.ts';
import type { StoreConnection } from '../../src/store/engine.ts';
import { StoreNotReady } from '../../src/store/errors.ts';
import type { FailureCause, StoreObserver } from '../../src/store/observer.ts';
import { connect as connectTo } from '../../src/store/postgres/connection/connect.ts';
import { parseConninfo } from '../../src/store/postgres/connection/conninfo.ts';
import { NO_OBSERVER } from '../../testkit/no-observer.ts';
import { createDatabase, createUser, startCluster } from '../../testkit/postgres.ts';
import { addStandby } from '../../testkit/standby.ts';
import { assertSameJson, createMany, engineAt, openStoreAt, searchAll } from '../../testkit/stores.ts';
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

async function openClient({ url }: { readonly url: string }): Promise<Client & AsyncDisposable> {
  const client = new Client(url);
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** An observer that collects the failures of removals. */
function observe(): { observer: StoreObserver; failures: (FailureCause | undefined)[] } {
  const failures: (FailureCause | undefined)[] = [];
  const observer: StoreObserver = {
    operation: () => () => {},
    part: (name) => (cause) => void (name === 'maintenance of the history' && failures.push(cause)),
    pool: () => {},
  };
  return { observer, failures };
}

/** Asserts that a start of the history is rejected. */
async function assertNotReady(url: string, reason: RegExp): Promise<void> {
  const connection = await connect(url);
  await assert.rejects(
    openHistory(connection, 90, NO_OBSERVER),
    (error) => error instanceof StoreNotReady && reason.test(error.message),
  );
}

const insert = (id: number, table = 'books') =>
  `insert into ${table} (id, title, author, year) values (${id}, 'Emma', '', 1815)`;

describe('The history on PostgreSQL: order', () => {
  test('shows a change to followers only when no open transaction can come before it, and else at once', async () => {
    await using database = await createDatabase();
    await using opened = await openWithHistory(database.url);
    const { store, history } = opened;
    await store.create(DUNE);
    await using first = await openClient(database);
    await using second = await openClient(database);
    await first.query('begin');
    await first.query(`insert into books (title, author, year) values ('first', '', 1)`);
    await second.query('begin');
    await second.query(`insert into books (title, author, year) values ('second', '', 2)`);
    await second.query('commit');
    await first.query(`insert into books (title, author, year) values ('third', '', 3)`);
    const { id } = await store.create(DUNE);
    await store.update(id, { year: 7 });
    await store.delete(id);
    assert.deepEqual(describeChanges(await readAll(history)), ['created 1 Dune 1965']);
    const ofBook = await readPage(history, { of: id });
    assert.deepEqual(describeChanges(ofBook.changes), [
      'deleted 5 Dune 7',
      'updated 5 Dune 7',
      'created 5 Dune 1965',
    ]);
    const deleted = await readPage(history, { of: 'deleted' });
    assert.deepEqual(describeChanges(deleted.changes), ['deleted 5 Dune 7']);
    assertSameJson(await restore(history, id), { id, ...DUNE, year: 7 });
    await first.query('savepoint one');
    await first.query('update books set year = 9 where id = 1');
    await first.query('rollback to one');
    await first.query('commit');
    assert.deepEqual(describeChanges(await readAll(history)), [
      'created 1 Dune 1965',
      'created 2 first 1',
      'created 3 second 2',
      'created 4 third 3',
      'created 5 Dune 1965',
      'updated 5 Dune 7',
      'deleted 5 Dune 7',
      'created 5 Dune 7',
    ]);
  });

  test('fills the pages of followers, also after writes that were rolled back', async () => {
    await using database = await createDatabase();
    await using opened = await openWithHistory(database.url);
    const { store, history } = opened;
    await using client = await openClient(database);
    for (let number = 0; number < 19; number++) {
      await store.create(DUNE);
      if (number % 4 === 0)
        await client.query(
          "begin; insert into books (title, author, year) select 'never', '', 0 from generate_series(1, 7); rollback",
        );
    }
    const lengths: number[] = [];
    for (let after: ChangeCursor | undefined; lengths.at(-1) !== 0; ) {
      const { changes, next } = await readPage(history, { after, limit: 5 });
      lengths.push(changes.length);
      after = next;
    }
    assert.deepEqual(lengths, [5, 5, 5, 4, 0]);
  });

  test('accepts the cursor of a change that was read, also while an open transaction began before it', async () => {
    await using database = await createDatabase();
    await using opened = await openWithHistory(database.url);
    const { store, history } = opened;
    await using late = await openClient(database);
    await late.query('begin');
    await late.query(insert(99));
    const [announced] = await database.query<{ key: string }>(
      `select (classid::bigint << 32) + objid::bigint as key from pg_locks where locktype = 'advisory' and objsubid = 1`,
    );
    await late.query('rollback');
    await createMany(store, [DUNE, DUNE]);
    const last = await history.last();
    // As if the transaction had been paused between reading the last note and announcing it.
    await late.query('begin');
    await late.query(`select pg_advisory_xact_lock_shared(${announced?.key})`);
    assertSameJson(await history.read({ limit: 9, after: last }), { changes: [], next: last });
    await store.create(DUNE);
    assertSameJson(await history.read({ limit: 9, after: last }), { changes: [], next: last });
    await late.query('rollback');
    assert.equal((await readAll(history, last)).length, 1);
  });

  test('of one schema does not depend on that of another one', async () => {
    await using database = await createDatabase();
    await using opened = await openWithHistory(database.url);
    await database.query(`create schema "other's"`);
    await using other = await openWithHistory(`${database.url}&options=-csearch_path%3D%22other's%22`);
    for (const year of [1, 2, 3]) await opened.store.create({ ...DUNE, year });
    await using open = await openClient(database);
    await open.query('begin');
    await open.query(insert(99, 'public.books'));
    await open.query(insert(99, `"other's".books`));
    for (const { store, history } of [opened, other]) {
      const last = await history.last();
      await store.create(DUNE);
      assertSameJson(await history.last(), last);
    }
    await open.query('rollback');
    await open.query('begin');
    await open.query(insert(99, `"other's".books`));
    const last = await opened.history.last();
    await opened.store.create(DUNE);
    assert.ok((await opened.history.last()).position > last.position);
  });

  test('gives no place to begin while an earlier transaction is open, of which a follower would miss changes', async () => {
    await using database = await createDatabase();
    await using opened = await openWithHistory(database.url);
    const { store, history } = opened;
    await store.create(DUNE);
    await using late = await openClient(database);
    await late.query('begin');
    await late.query(insert(98));
    await store.create(DUNE);
    await database.query('delete from book_history_changes');
    for (const call of [() => history.last(), () => history.read({ limit: 9 })])
      await assert.rejects(call, { name: 'StoreUnavailable' });
    await late.query('commit');
    await readPage(history, { after: await history.last() });
  });

  test('restores no state before the last deletion while another program restores the book, too', async () => {
    await using database = await createDatabase();
    await using opened = await openWithHistory(database.url);
    const { store, history } = opened;
    const { id } = await store.create(DUNE);
    await store.delete(id);
    await using other = await openClient(database);
    await other.query('begin');
    await other.query('update book_history_changes set at = at');
    await other.query(insert(id));
    const restoring = restore(history, id);
    const waiting = "select 1 from pg_locks where not granted and locktype = 'transactionid'";
    while ((await database.query(waiting)).length === 0);
    await other.query(`update books set title = 'newer' where id = ${id}`);
    await other.query(`delete from books where id = ${id}`);
    await other.query('commit');
    assertSameJson(await restoring, { id, title: 'newer', author: '', year: 1815 });
    assert.equal(await restore(history, id), 'exists');
  });

  test('restores into a table that always generates its ids', async () => {
    await using database = await createDatabase();
    await database.query(
      'create table books (id bigint generated always as identity primary key, title text, author text, year bigint)',
    );
    await using opened = await openWithHistory(database.url);
    const { id } = await opened.store.create(DUNE);
    await opened.store.delete(id);
    assertSameJson(await restore(opened.history, id), { id, ...DUNE });
  });
});

describe('The history on PostgreSQL: gaps', () => {
  /** What other programs do while no service runs. */
  const INTERFERENCES: Readonly<Record<string, string>> = {
    'triggers are disabled': 'alter table books disable trigger user',
    'one trigger is disabled': 'alter table books disable trigger book_history_insert',
    'one trigger fires only in replicas': 'alter table books enable replica trigger book_history_insert',
    'a trigger is dropped': 'drop trigger book_history_insert on books',
    'the table of changes is emptied': 'truncate book_history_changes',
    'the state and the sequence are dropped':
      'drop table book_history_changes, book_history; drop sequence book_history_note',
    'the state is deleted': 'delete from book_history',
    'another version of the service has replaced what the triggers do': `
      create or replace function record_book_history() returns trigger language plpgsql as 'begin return null; end';
      update book_history set definitions = 'of another version'`,
  };
  for (const [name, interference] of Object.entries(INTERFERENCES)) {
    test(`is put right by the next start when ${name}, and followers begin anew`, async () => {
      await using database = await createDatabase();
      let cursor: ChangeCursor;
      {
        await using opened = await openWithHistory(database.url);
        await createMany(opened.store, [DUNE, DUNE]);
        cursor = await opened.history.last();
      }
      await database.query(interference);
      await using opened = await openWithHistory(database.url);
      const { store, history } = opened;
      const result = await history.read({ limit: 9, after: cursor });
      assert.ok(result === 'removed' || result === 'unknown', JSON.stringify(result));
      const { position } = await history.last();
      await store.create(DUNE);
      await store.update(1, { year: 7 });
      await store.delete(2);
      assert.deepEqual(describeChanges(await readAll(history)), [
        'created 3 Dune 1965',
        'updated 1 Dune 7',
        'deleted 2 Dune 1965',
      ]);
      const cursors = (await readAll(history)).map(({ cursor: { nonce } }) => nonce);
      assert.equal(new Set(cursors).size, 3);
      assert.ok((await history.last()).position > position);
    });
  }

  test('keeps a trigger that always fires, for sessions that replicate', async () => {
    await using database = await createDatabase();
    await using opened = await openWithHistory(database.url);
    const { store, history } = opened;
    await database.query('alter table books enable always trigger book_history_insert');
    await database.query(`set session_replication_role = replica; ${insert(9)}`);
    assert.deepEqual(describeChanges(await readAll(history)), ['created 9 Emma 1815']);
    // What else is put right keeps it.
    await database.query('drop trigger book_history_delete on books');
    for (const id of [20, 30]) {
      await using again = await openWithHistory(database.url);
      await database.query(`set session_replication_role = replica; ${insert(id)}`);
      await store.create(DUNE);
      assert.equal((await readAll(again.history)).length, id === 20 ? 2 : 4);
    }
  });

  test('are no gap: ANALYZE, VACUUM FULL, REINDEX, and rows that other programs read', async () => {
    await using database = await createDatabase();
    let cursor: ChangeCursor;
    {
      await using opened = await openWithHistory(database.url);
      await opened.store.create(DUNE);
      cursor = await opened.history.last();
    }
    for (const sql of [
      'analyze',
      'vacuum full',
      'vacuum freeze',
      'reindex table book_history_changes',
      'cluster book_history_changes using book_history_by_book',
      'create index on books (year)',
      'alter table books add column note text',
    ])
      await database.query(sql);
    for (const id of [2, 3]) {
      // The second one keeps changes for another time, and names the schema otherwise.
      const url = id === 2 ? database.url : `${database.url}&options=-csearch_path%3Dpublic,pg_catalog`;
      await using opened = await openWithHistory(url, { days: id });
      await opened.store.create(DUNE);
      const changes = await readAll(opened.history, cursor);
      assert.equal(describeChanges(changes).at(-1), `created ${id} Dune 1965`);
      assert.equal(changes.length, id - 1);
    }
  });

  test('TRUNCATE in an older snapshot tells followers to begin anew; otherwise it is deletions', async () => {
    await using database = await createDatabase();
    await using opened = await openWithHistory(database.url);
    const { store, history } = opened;
    await createMany(store, [DUNE, DUNE]);
    let cursor = await history.last();
    await database.query('truncate books');
    assert.deepEqual(describeChanges(await readAll(history, cursor)), [
      'deleted 1 Dune 1965',
      'deleted 2 Dune 1965',
    ]);
    await store.create(DUNE);
    await using other = await openClient(database);
    await other.query('begin isolation level repeatable read');
    await other.query('select 1 from books');
    const { id } = await store.create({ ...DUNE, year: 7 });
    await store.update(3, { year: 8 });
    cursor = await history.last();
    await other.query('truncate books');
    await other.query('commit');
    assert.equal(await history.read({ limit: 9, after: cursor }), 'removed');
    assert.deepEqual(await readAll(history), []);
    const { changes } = await readPage(history, { of: id });
    assert.deepEqual(describeChanges(changes), ['created 4 Dune 7 gap']);
    await readPage(history, { after: await history.last() });
  });

  test('of a version before 0.3 begins anew, and the books, ids and keys stay', async () => {
    await using database = await createDatabase();
    const created = await (async () => {
      await using store = await openStoreAt(database.url);
      const book = await store.createOnce(DUNE, 'key');
      await store.delete((await store.create(DUNE)).id);
      return book;
    })();
    await database.query(VERSION_0_2);
    await database.query('update books set year = year');
    const changes = await database.query<{ note: number }>('select note from book_history_changes');
    assert.equal(changes.length, 1);
    // As `bookkeeping check` does before the start.
    await (await engineAt(database.url)).inspect();
    await using opened = await openWithHistory(database.url);
    const { store, history } = opened;
    assert.equal(await history.read({ limit: 9, after: { position: 1, nonce: 0 } }), 'unknown');
    assertSameJson(await store.createOnce(DUNE, 'key'), created);
    assertSameJson(await store.create(DUNE), { id: 3, ...DUNE });
    assert.deepEqual(describeChanges(await readAll(history)), ['created 3 Dune 1965']);
  });

  test('a copy of the server is another store for the cursors of changes that it does not have', async () => {
    await using primary = await startCluster({ isSynced: false });
    await using opened = await openWithHistory(primary.url);
    await opened.store.create(DUNE);
    const common = await opened.history.last();
    const standby = await addStandby(primary);
    await using copy = standby.cluster;
    await onServer(primary.url, `alter system set synchronous_standby_names = ''; select pg_reload_conf()`);
    await standby.promote();
    await using onStandby = await openWithoutPreparing(copy.url);
    await whenAvailable(() => opened.store.create({ ...DUNE, year: 1 }));
    await onServer(copy.url, insert(50));
    const cursor = await opened.history.last();
    assert.equal((await onStandby.last()).position >= cursor.position, true);
    assert.equal(await onStandby.read({ limit: 9, after: cursor }), 'unknown');
    assert.deepEqual(describeChanges(await readAll(onStandby, common)), ['created 50 Emma 1815']);
    assert.deepEqual(describeChanges(await readAll(opened.history, common)), ['created 2 Dune 1']);
  });
});

/** Runs statements one by one, since some do not run in a transaction. */
async function onServer(url: string, sql: string): Promise<void> {
  await using client = await openClient({ url });
  for (const statement of sql.split(';')) await client.query(statement);
}

/** Connects to a store that is not opened. */
async function connect(url: string): Promise<StoreConnection> {
  const { server, client } = await connectTo(parseConninfo(url));
  await client.end();
  return { engine: 'postgres', server, canHaveTriggers: true };
}

async function openWithoutPreparing(url: string): Promise<BookHistory> {
  const history = await openHistory(await connect(url), 90, NO_OBSERVER);
  assert.ok(history);
  return history;
}

describe('The history on PostgreSQL: preparation', () => {
  test('is rejected while another transaction has locked the books, and writers hardly wait', async () => {
    await using database = await createDatabase();
    await using store = await openStoreAt(database.url);
    await using other = await openClient(database);
    await other.query('begin');
    await other.query('lock table books in row exclusive mode');
    await assertNotReady(database.url, /another transaction has locked the table books/);
    await store.create(DUNE);
    await other.query('commit');
    {
      await using opened = await openWithHistory(database.url);
      await store.create(DUNE);
      assert.equal((await readAll(opened.history)).length, 1);
    }
    // What is as it should be needs no lock.
    await other.query('begin');
    await other.query('lock table books in row exclusive mode');
    await using again = await openWithHistory(database.url);
    assert.equal((await readAll(again.history)).length, 1);
    await other.query('commit');
  });

  test('is rejected where the user may not create triggers, or tables', async () => {
    await using database = await createDatabase();
    await (await openStoreAt(database.url))[Symbol.asyncDispose]();
    await using user = await createUser(database);
    await database.query(`grant select, insert, update, delete on books to ${user.name}`);
    await assertNotReady(user.url, /permission denied for schema public/);
    await database.query(`grant create on schema public to ${user.name}`);
    await assertNotReady(user.url, /permission denied for table books/);
    await database.query(`grant trigger on books to ${user.name}`);
    await using opened = await openHistory(await connect(user.url), 90, NO_OBSERVER);
    await database.query(insert(1));
    assert.equal((await readAll(opened as BookHistory)).length, 1);
  });

  test('stays on where the user may not drop the triggers, as another one owns the table', async () => {
    await using database = await createDatabase();
    await (await openStoreAt(database.url))[Symbol.asyncDispose]();
    await using user = await createUser(database);
    await database.query(`
      grant select, insert, update, delete, trigger on books to ${user.name};
      grant create on schema public to ${user.name}`);
    await (await openHistory(await connect(user.url), 90, NO_OBSERVER))?.[Symbol.asyncDispose]();
    await assert.rejects(openHistory(await connect(user.url), undefined, NO_OBSERVER), {
      name: 'StoreNotReady',
      message: 'the history cannot be turned on or off (must be owner of relation books)',
    });
    await database.query(insert(1));
    {
      await using opened = await openHistory(await connect(user.url), 90, NO_OBSERVER);
      assert.equal((await readAll(opened as BookHistory)).length, 1);
    }
    await database.query(`alter table books owner to ${user.name}`);
    assert.equal(await openHistory(await connect(user.url), undefined, NO_OBSERVER), undefined);
    assert.deepEqual(
      await database.query(
        "select tgname from pg_trigger where tgrelid = 'books'::regclass and tgname like '%history%'",
      ),
      [],
    );
  });

  test('does not touch a table of the same name that is not its own', async () => {
    await using database = await createDatabase();
    await using store = await openStoreAt(database.url);
    await database.query(`create table book_history (book_id bigint, reader text)`);
    await assertNotReady(database.url, /book_history is not a table of this service/);
    assert.equal(await openHistory(await connect(database.url), undefined, NO_OBSERVER), undefined);
    assertSameJson(await store.create(DUNE), { id: 1, ...DUNE });
    const columns = `select attname from pg_attribute where attrelid = 'book_history'::regclass and attnum > 0`;
    assert.equal((await database.query(columns)).length, 2);
  });

  test('leaves the database as it is when it is off and never was on', async () => {
    await using database = await createDatabase();
    await (await openWithoutHistory(database.url))[Symbol.asyncDispose]();
    assert.deepEqual(await database.query(`select 1 from pg_class where relname like 'book_history%'`), []);
  });

  test('that was dropped by hand while it is on is no defect of the books: writes are unavailable until the next start', async () => {
    await using database = await createDatabase();
    await using opened = await openWithHistory(database.url);
    const { store } = opened;
    await store.create(DUNE);
    await database.query('drop table book_history_changes');
    await assert.rejects(store.create(DUNE), StoreUnavailable);
    await using next = await openWithHistory(database.url);
    assert.equal((await next.store.create(DUNE)).title, DUNE.title);
  });

  test('that was dropped by hand is off after a start without it, so that books can be written', async () => {
    await using database = await createDatabase();
    await (await openWithHistory(database.url))[Symbol.asyncDispose]();
    await database.query('drop table book_history, book_history_changes');
    await using store = await openWithoutHistory(database.url);
    assertSameJson(await store.create(DUNE), { id: 1, ...DUNE });
  });
});

describe('The history on PostgreSQL: partitions', () => {
  const PARTITIONED = `
    create table books (id bigint generated by default as identity primary key, title text, author text, year bigint)
      partition by range (id);
    create table books_1 partition of books for values from (0) to (1000);
    create table books_2 partition of books for values from (1000) to (2000) partition by range (id);
    create table books_2a partition of books_2 for values from (1000) to (2000);
  `;

  test('records and finds what other programs write into a partition, once', async () => {
    await using database = await createDatabase();
    await database.query(PARTITIONED);
    await using opened = await openWithHistory(database.url);
    const { store, history } = opened;
    const query = { sort: 'id', isDescending: false, q: 'emma', yearFrom: -9_999, yearTo: 9_999 } as const;
    const find = async () => (await searchAll(store, query, 9)).length;
    assert.equal(await find(), 0);
    await database.query(insert(5, 'books_1'));
    await database.query(insert(1_005, 'books_2'));
    await database.query(insert(1_006, 'books_2a'));
    await database.query(insert(7));
    await database.query('update books set id = id + 1000 where id = 7');
    assert.equal(await find(), 4);
    await database.query('truncate books_2a');
    await database.query('truncate books');
    assert.equal(await find(), 0);
    const changes = describeChanges(await readAll(history));
    assert.deepEqual(changes.slice(0, 4), [
      'created 5 Emma 1815',
      'created 1005 Emma 1815',
      'created 1006 Emma 1815',
      'created 7 Emma 1815',
    ]);
    assert.deepEqual(changes.slice(4).toSorted(), [
      'created 1007 Emma 1815',
      'deleted 1005 Emma 1815',
      'deleted 1006 Emma 1815',
      'deleted 1007 Emma 1815',
      'deleted 5 Emma 1815',
      'deleted 7 Emma 1815',
    ]);
  });

  test('covers a partition that is added, and one no more that is detached, from the next start on', async () => {
    await using database = await createDatabase();
    await database.query(PARTITIONED);
    for (const sql of [
      'create table books_3 partition of books for values from (2000) to (3000)',
      'alter table books detach partition books_1',
    ]) {
      let cursor: ChangeCursor;
      {
        await using opened = await openWithHistory(database.url);
        cursor = await opened.history.last();
      }
      await database.query(sql);
      await using opened = await openWithHistory(database.url);
      assert.equal(await opened.history.read({ limit: 9, after: cursor }), 'removed');
    }
    await using opened = await openWithHistory(database.url);
    await database.query(insert(2_001, 'books_3'));
    await database.query(insert(5, 'books_1'));
    assert.deepEqual(describeChanges(await readAll(opened.history)), ['created 2001 Emma 1815']);
    await using _ = await openWithoutHistory(database.url);
    const triggers = `select 1 from pg_trigger where tgname like 'book_history%' and tgrelid::regclass::text like 'books%'`;
    assert.deepEqual(await database.query(triggers), []);
  });
});

describe('The history on PostgreSQL: bounds', () => {
  test('reads as many changes as it returns before the planner knows the table', async () => {
    await using database = await createDatabase();
    await using opened = await openWithHistory(database.url);
    await database.query(
      `insert into books (title, author, year) select 'x', '', n from generate_series(1, 20000) as n`,
    );
    const after = await opened.history.last();
    const [first] = (await readPage(opened.history, { limit: 1 })).changes;
    const { text, values } = statementOf({ limit: 10, after: first?.cursor }, after.position);
    const rows = await database.query<{ 'QUERY PLAN': string }>(
      `explain (analyze, costs off) ${text}`,
      values,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    const counts = [...plan.matchAll(/on book_history_changes.*rows=([\d.]+)/g)].map(([, count]) =>
      Number(count),
    );
    assert.ok(counts.length > 0 && Math.max(...counts) <= 10, plan);
  });

  test('reports a removal that fails, and repeats it', async () => {
    await using database = await createDatabase();
    await (await openWithHistory(database.url))[Symbol.asyncDispose]();
    await database.query(insert(1));
    await database.query(`update book_history_changes set at = now() - interval '91 days'`);
    await database.query(`
      create function fail() returns trigger language plpgsql as 'begin raise disk_full; end';
      create trigger fail before delete on book_history_changes execute function fail()`);
    const { observer, failures } = observe();
    {
      await using opened = await openWithHistory(database.url, { observer });
      while (failures.length === 0) await sleep(20);
      assert.deepEqual(failures, ['53100']);
      assert.equal((await readAll(opened.history)).length, 1);
    }
    await database.query('drop trigger fail on book_history_changes');
    await using opened = await openWithHistory(database.url, { observer });
    while ((await readAll(opened.history)).length > 0) await sleep(20);
  });
});

/** What matters of the log of versions before 0.3. */
const VERSION_0_2 = `
  create table book_history (log text not null default 'x', removed bigint not null default 0, days integer default 90,
    removed_nonce bigint not null default 0, recorder integer not null default 3, catalog text);
  insert into book_history default values;
  create sequence book_history_note;
  create table book_history_changes (note bigint primary key default nextval('book_history_note'), id bigint not null,
    type text not null, at timestamptz not null default clock_timestamp(), title text not null, author text not null,
    year bigint not null, nonce bigint not null default 0);
  create function record_book_history() returns trigger language plpgsql as $$
  begin
    insert into book_history_changes (id, type, title, author, year) select id, 'updated', title, author, year from added;
    return null;
  end $$;
  create trigger book_history_update after update on books referencing old table as removed new table as added
    for each statement execute function record_book_history();
  create function book_history_last() returns bigint language sql as 'select 1::bigint';
  create function book_history_removed() returns trigger language plpgsql as 'begin return null; end';
  create function book_history_catalog() returns text language sql as $$ select 'x' $$;
  delete from bookkeeping_migrations where version > 2;
`;
