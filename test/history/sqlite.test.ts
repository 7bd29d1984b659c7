import assert from 'node:assert/strict';
import { copyFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Book } from '../../src/book/contract.ts';
import { defineChangeLog } from '../../src/changes/sqlite/change-log.ts';
import type { ChangeCursor, ChangePage, CursorFault } from '../../src/history/book-history.ts';
import { ChangeReader } from '../../src/history/sqlite/change-reader.ts';
import type { FailureCause, StoreObserver } from '../../src/store/observer.ts';
import { backUpStore, restoreStore } from '../../src/store/sqlite/files/backups.ts';
import { createFolder } from '../../testkit/folder.ts';
import { assertSameJson, createMany, listBooks, openStoreAt } from '../../testkit/stores.ts';
import {
  DUNE,
  describeChanges,
  openWithHistory,
  openWithoutHistory,
  readAll,
  readPage,
  restore,
} from './stores.ts';

const LONG = 'x'.repeat(1_024 * 1_024);

/** Triggers of other programs: they write titles in capitals, delete books of the year 0, and keep books before it. */
const TRIGGERS_OF_USERS = [
  'create trigger inserted after insert on books begin update books set title = upper(title) where id = new.id; end',
  `create trigger updated after update on books when new.title <> upper(new.title)
  begin update books set title = upper(title) where id = new.id; end`,
  'create trigger insert_0 after insert on books when new.year = 0 begin delete from books where id = new.id; end',
  'create trigger update_0 after update on books when new.year = 0 begin delete from books where id = new.id; end',
  `create trigger kept after delete on books when old.year < 0
  begin insert into books (id, title, author, year) values (old.id, 'kept', old.author, old.year); end`,
];

describe('The history on SQLite', () => {
  test('ends with what the books are when other triggers change them again', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await using opened = await openWithHistory(`sqlite:${path}`);
    const { store, history } = opened;
    {
      using database = new DatabaseSync(path);
      for (const statement of TRIGGERS_OF_USERS) database.exec(statement);
    }
    await store.create(DUNE);
    await store.create({ ...DUNE, year: 1 });
    await store.update(2, { year: 0 });
    await store.create({ ...DUNE, year: -1 });
    await store.delete(3);
    await store.create({ ...DUNE, year: 0 });
    await store.update(1, { title: 'Emma' });
    const replica = new Map<number, Book>();
    for (const { type, book } of await readAll(history)) {
      if (type === 'deleted') replica.delete(book.id);
      else replica.set(book.id, book);
    }
    const stored = await listBooks(store);
    assert.deepEqual(
      stored.map(({ id, title, year }) => [id, title, year]),
      [
        [1, 'EMMA', 1965],
        [3, 'KEPT', -1],
      ],
    );
    assert.deepEqual(
      [...replica.values()].toSorted((one, other) => one.id - other.id),
      stored,
    );
    assert.deepEqual(
      describeChanges((await readPage(history, { of: 'deleted' })).changes).map((change) =>
        change.slice(0, 9),
      ),
      ['deleted 4', 'deleted 2'],
    );
  });

  test('goes on from the cursors of a backup that is restored, and knows none of those that followed', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    const backup = join(folder.path, 'backup.db');
    let later: ChangeCursor;
    let before: ChangeCursor;
    {
      await using opened = await openWithHistory(`sqlite:${path}`);
      await opened.store.create(DUNE);
      before = await opened.history.last();
      await backUpStore(path, backup, () => {});
      await opened.store.update(1, { year: 1 });
      later = await opened.history.last();
    }
    await restoreStore(path, backup, () => {});
    await using opened = await openWithHistory(`sqlite:${path}`);
    const { store, history } = opened;
    for (const year of [2, 3]) {
      await store.update(1, { year });
      assert.equal(await history.read({ limit: 9, after: later }), 'unknown');
    }
    assert.deepEqual(describeChanges(await readAll(history, before)), [
      'updated 1 Dune 2',
      'updated 1 Dune 3',
    ]);
  });

  test('of a copy of the file does not know the changes that followed in the original, nor the reverse', async () => {
    await using folder = await createFolder();
    const [path, copy] = [join(folder.path, 'books.db'), join(folder.path, 'copy.db')];
    {
      await using opened = await openWithHistory(`sqlite:${path}`);
      await opened.store.create(DUNE);
    }
    await copyFile(path, copy);
    await using one = await openWithHistory(`sqlite:${path}`);
    await using other = await openWithHistory(`sqlite:${copy}`);
    for (const { store } of [one, other]) await createMany(store, [DUNE, DUNE]);
    assert.equal(await one.history.read({ limit: 9, after: await other.history.last() }), 'unknown');
    assert.equal(await other.history.read({ limit: 9, after: await one.history.last() }), 'unknown');
  });

  test('has the changes of an adopted table, whatever its columns hold', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    execute(
      path,
      'create table books (id integer primary key autoincrement, title text, author text, year integer)',
    );
    await using opened = await openWithHistory(`sqlite:${path}`);
    execute(path, `insert into books (title, author, year) values (x'4475', 5, 1.5)`);
    execute(path, 'update books set title = null, author = null, year = null');
    execute(path, `update books set title = '', author = '', year = 0`);
    execute(path, 'insert or replace into books (id, title) values (1, 5)');
    execute(path, 'delete from books');
    assert.deepEqual(describeChanges(await readAll(opened.history)), [
      'created 1 Du 1',
      'updated 1  0',
      'created 1 5 0',
      'deleted 1 5 0',
    ]);
  });

  for (const [what, sql] of [
    [
      'an altered trigger',
      'drop trigger book_history_update; create trigger book_history_update after update on books begin select 1; end',
    ],
    ['no trigger of removals', 'drop trigger book_history_removed; delete from book_changes where id = 1'],
    ['no state', 'delete from book_history'],
    ['another column in the log', 'alter table book_changes add column isbn text'],
  ] as const) {
    test(`with ${what} is put right at the next start, and followers begin anew`, async () => {
      await using folder = await createFolder();
      const path = join(folder.path, 'books.db');
      let before: ChangeCursor;
      {
        await using opened = await openWithHistory(`sqlite:${path}`);
        await createMany(opened.store, [DUNE, DUNE]);
        before = (await readAll(opened.history))[0]?.cursor as ChangeCursor;
      }
      execute(path, sql);
      await using opened = await openWithHistory(`sqlite:${path}`);
      const { store, history } = opened;
      await store.update(2, { year: 2 });
      assert.equal(await history.read({ limit: 9, after: before }), 'removed');
      assert.deepEqual(describeChanges(await readAll(history)), ['updated 2 Dune 2']);
    });
  }

  test('of a table that was dropped does not accept the cursors of earlier changes at the same positions', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    let cursors: ChangeCursor[];
    {
      await using opened = await openWithHistory(`sqlite:${path}`);
      await createMany(opened.store, [DUNE, DUNE, DUNE]);
      cursors = (await readAll(opened.history)).map(({ cursor }) => cursor);
    }
    execute(path, 'drop table book_changes; drop table book_history');
    await using opened = await openWithHistory(`sqlite:${path}`);
    const { store, history } = opened;
    for (const year of [1, 2, 3, 4]) await store.update(1, { year });
    for (const after of cursors) assert.equal(typeof (await history.read({ limit: 9, after })), 'string');
    assert.equal((await readAll(history)).length, 4);
  });

  test('is unavailable while another process has turned it off, and has a gap when it is on again', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await using opened = await openWithHistory(`sqlite:${path}`);
    await opened.store.create(DUNE);
    const before = await opened.history.last();
    {
      await using other = await openWithoutHistory(`sqlite:${path}`);
      await other.update(1, { year: 1 });
    }
    await assert.rejects(readPage(opened.history, { after: before }), { name: 'StoreUnavailable' });
    await assert.rejects(restore(opened.history, 1), { name: 'StoreUnavailable' });
    await using again = await openWithHistory(`sqlite:${path}`);
    await again.store.update(1, { year: 2 });
    assert.equal(await opened.history.read({ limit: 9, after: before }), 'removed');
    assert.deepEqual(describeChanges(await readAll(opened.history)), ['updated 1 Dune 2']);
    assert.deepEqual(describeChanges((await readPage(opened.history, { of: 1 })).changes), [
      'updated 1 Dune 2',
      'created 1 Dune 1965 gap',
    ]);
  });

  test('of a development version begins anew: the books, their ids and the keys are kept', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    {
      await using store = await openStoreAt(`sqlite:${path}`);
      await store.createOnce(DUNE, 'key');
      await createMany(store, [DUNE, DUNE]);
      await store.delete(3);
    }
    execute(path, `delete from bookkeeping_migrations where version = 3; ${OLD_LOG}`);
    {
      await using opened = await openWithHistory(`sqlite:${path}`);
      const { store, history } = opened;
      assertSameJson(await store.createOnce(DUNE, 'key'), { id: 1, ...DUNE });
      assertSameJson(await store.create(DUNE), { id: 4, ...DUNE });
      for (const [position, nonce] of [
        [0, 0],
        [1, 0],
        [1, 5],
      ] as const)
        assert.equal(typeof (await history.read({ limit: 9, after: { position, nonce } })), 'string');
      assert.deepEqual(describeChanges(await readAll(history)), ['created 4 Dune 1965']);
    }
    assert.equal(select(path, "select count(*) from sqlite_schema where name like 'book_search%'"), 0);
  });

  for (const isOn of [true, false]) {
    test(`does not hinder a start ${isOn ? 'with' : 'without'} it when its tables were dropped`, async () => {
      await using folder = await createFolder();
      const path = join(folder.path, 'books.db');
      await (await openWithHistory(`sqlite:${path}`))[Symbol.asyncDispose]();
      execute(path, 'drop table book_changes; drop table book_history');
      await using resources = new AsyncDisposableStack();
      const store = isOn
        ? resources.use(await openWithHistory(`sqlite:${path}`)).store
        : resources.use(await openWithoutHistory(`sqlite:${path}`));
      assertSameJson(await store.create(DUNE), { id: 1, ...DUNE });
    });
  }

  test('keeps the latest 100,000 ids and few more, and all changes, while it is off; what is forgotten is removed for followers', () => {
    using database = openLog();
    database.exec(books(1_000));
    defineChangeLog(database, undefined);
    for (let year = 1; year <= 103; year++) database.exec(`update books set year = ${year}`);
    const counts = database.prepare(`
      select count(*) filter (where type is null) as ids, count(*) filter (where type is not null) as others,
        min(note) filter (where type is null) - 1 = (select removed from book_history) as isRemoved from book_changes`);
    const { ids, others, isRemoved } = counts.get() as Record<string, number>;
    assert.ok(Number(ids) >= 100_000 && Number(ids) < 101_000, `${ids}`);
    // With the gaps at the beginning of each mode.
    assert.deepEqual([others, isRemoved], [1_002, 1]);
  });

  for (const [what, request] of [
    ['for followers', {}],
    ['of a book', { of: 1 }],
    ['of deleted books', { of: 'deleted' }],
  ] as const) {
    test(`reads no more long changes ${what} than a page has, and one more`, () => {
      using database = openLog();
      for (let book = 0; book < 10; book++) database.exec(`insert into books (title) values ('${LONG}')`);
      for (let year = 0; year < 10; year++) database.exec(`update books set year = ${year + 1} where id = 1`);
      database.exec('delete from books');
      let read = 0;
      database.function('counted', (value) => {
        read++;
        return value;
      });
      database.exec(`
        create temp view book_changes as
        select note, nonce, type, at, id, counted(title) as title, author, year from main.book_changes
      `);
      const page = new ChangeReader(database).read({ limit: 1_000, ...request });
      assert.equal(typeof page === 'object' && page.changes.length, 1);
      assert.ok(read <= 4, `${read} texts were read`);
    });
  }

  test('has all changes of a book, whether its index has them yet or not, and keeps none that is removed', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await using opened = await openWithHistory(`sqlite:${path}`);
    const { store, history } = opened;
    await createMany(
      store,
      Array.from({ length: 30 }, () => DUNE),
    );
    using database = new DatabaseSync(path);
    const indexed = () =>
      database.prepare('select count(*) as count from book_changes_by_book').get()?.count as number;
    const years = async () => (await readPage(history, { of: 7 })).changes.map(({ book }) => book.year);
    assert.equal(indexed(), 0);
    for (let year = 1; year <= 40; year++) database.exec(`update books set year = ${year}`);
    const expected = [...Array.from({ length: 40 }, (_, index) => 40 - index), DUNE.year];
    assert.deepEqual(await years(), expected);
    assert.ok(indexed() >= 1_230, `${indexed()} changes`);
    await store.update(7, { year: 41 });
    assert.deepEqual(await years(), [41, ...expected]);
    await store.delete(7);
    assert.deepEqual((await readPage(history, { of: 'deleted' })).changes[0]?.book.year, 41);
    assert.deepEqual(await restore(history, 7), { ...DUNE, id: 7, year: 41 });
    assert.deepEqual(await years(), [41, 41, 41, ...expected]);
    // The restore has indexed all changes before it.
    const { count, last } = database
      .prepare('select count(*) as count, max(note) as last from book_changes')
      .get() as Record<string, number>;
    assert.equal(indexed(), (count as number) - 1);
    database.exec(`delete from book_changes where note < ${last as number}`);
    assert.equal(indexed(), 0);
    assert.deepEqual(await years(), [41]);
  });

  test('removes 500 changes in a step, up to the first one to be kept', () => {
    using database = openLog();
    database.exec(
      `${books(1_200)}; update book_changes set at = 0; insert into books (title) values ('new')`,
    );
    database.exec(
      `insert into books (title) values ('old'); update book_changes set at = 0 where title = 'old'`,
    );
    const reader = new ChangeReader(database);
    const remaining: unknown[] = [];
    for (let hasMore = true; hasMore; ) {
      hasMore = reader.removeOld();
      remaining.push(database.prepare('select count(*) as count from book_changes').get()?.count);
    }
    // The first row is the gap from which the log begins.
    assert.deepEqual(remaining, [703, 203, 2]);
    const expected = ['created 1201 new 0', 'created 1202 old 0'];
    assert.deepEqual(describeChanges(pageOf(reader.read({ limit: 9 })).changes), expected);
  });

  test('reports that it cannot remove old changes, and reads them meanwhile', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    {
      await using opened = await openWithHistory(`sqlite:${path}`);
      await opened.store.create(DUNE);
    }
    execute(
      path,
      `update book_changes set at = 0;
       create trigger hold before delete on book_changes begin select raise(abort, 'held'); end`,
    );
    const causes: unknown[] = [];
    await using opened = await openWithHistory(`sqlite:${path}`, { observer: observerOf(causes) });
    while (causes.length === 0) await sleep(20);
    assert.match(String(causes[0]), /^maintenance of the history: Error: held/);
    assert.equal((await readAll(opened.history)).length, 1);
  });

  test('acknowledges no restore to a file that was replaced, nor any later write, and ends the process', async () => {
    await using folder = await createFolder();
    const [path, moved] = [join(folder.path, 'books.db'), join(folder.path, 'moved.db')];
    await using opened = await openWithHistory(`sqlite:${path}`);
    const { store, history } = opened;
    for (const id of [1, 2]) {
      await store.create(DUNE);
      await store.delete(id);
    }
    assert.equal(await restore(history, 3), 'absent');
    await rename(path, moved);
    const rejected = [restore(history, 1), restore(history, 2), store.create(DUNE)];
    for (const write of rejected) await assert.rejects(write, { name: 'StoreUnavailable' });
    await rename(moved, path);
    await assert.rejects(store.create(DUNE), { name: 'StoreUnavailable' });
    assert.match((await store.lost) ?? '', /was deleted or replaced under the service$/);
  });

  test('leaves a store alone that never had one', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await (await openStoreAt(`sqlite:${path}`))[Symbol.asyncDispose]();
    const tables = () => select(path, 'select group_concat(name) from sqlite_schema');
    const before = tables();
    await (await openWithoutHistory(`sqlite:${path}`))[Symbol.asyncDispose]();
    assert.equal(tables(), before);
  });
});

/** A log in memory with a table of books. */
function openLog(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  database.exec(
    'create table books (id integer primary key autoincrement, title text, author text, year integer)',
  );
  defineChangeLog(database, 90);
  return database;
}

/** Tables and a trigger as those of versions before 0.3. */
const OLD_LOG = `
  create table book_changes (note integer primary key autoincrement, id integer not null) strict;
  insert into book_changes (id) values (1);
  create table book_history (log text not null, removed integer not null, days integer) strict;
  insert into book_history values ('log', 0, 90);
  create table book_changes_by_book (id integer not null, note integer not null, primary key (id, note)) strict;
  create table book_search_index (name text, version text);
  create table book_search_starts (start integer);
  create trigger book_search_insert after insert on books begin insert into book_changes (id) values (new.id); end;
`;

/** A statement that creates many books. */
function books(count: number): string {
  return `
    with recursive numbers (number) as (select 1 union all select number + 1 from numbers where number < ${count})
    insert into books (title, author, year) select 'Dune', '', 0 from numbers
  `;
}

function pageOf(page: ChangePage | CursorFault | undefined): ChangePage {
  assert.ok(typeof page === 'object');
  return page;
}

function execute(path: string, sql: string): void {
  using database = new DatabaseSync(path, { timeout: 5_000 });
  database.exec(sql);
}

/** The first column of the first row. */
function select(path: string, sql: string): unknown {
  using database = new DatabaseSync(path, { timeout: 5_000, readOnly: true });
  return Object.values(database.prepare(sql).get() ?? {})[0];
}

function observerOf(causes: unknown[]): StoreObserver {
  return {
    operation: () => () => {},
    pool: () => {},
    part: (name) => (cause: FailureCause | undefined) => causes.push(`${name}: ${String(cause)}`),
  };
}
