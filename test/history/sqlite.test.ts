import assert from 'node:assert/strict';
import { copyFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChangeCursor, ChangePage, CursorFault } from '../../src/history/book-history.ts';
import { openHistory } from '../../src/history/open-history.ts';
import { ChangeReader } from '../../src/history/sqlite/change-reader.ts';
import type { FailureCause, StoreObserver } from '../../src/store/observer.ts';
import { recordBooks, stopRecording } from '../../src/store/sqlite/change-log.ts';
import { backUpStore, restoreStore } from '../../src/store/sqlite/files/backups.ts';
import { createFolder } from '../../testkit/folder.ts';
import { assertSameJson, createMany, openStoreAt } from '../../testkit/stores.ts';
import {
  DUNE,
  describeChanges,
  openWithHistory,
  openWithoutHistory,
  readAll,
  readPage,
  whenAvailable,
} from './stores.ts';
import { FORGET_0_1, HISTORY_0_1 } from './version-0-1.ts';

const LONG = 'x'.repeat(1_024 * 1_024);

describe('The history on SQLite', () => {
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

  test('of version 0.1 is continued without a gap', async () => {
    await using folder = await createFolder();
    const path = await storeOf01(folder.path);
    await using opened = await openWithHistory(`sqlite:${path}`);
    const { store, history } = opened;
    await store.update(1, { year: 2 });
    assert.deepEqual(describeChanges(await readAll(history)), [
      'created 1 Dune 1965',
      'created 2 Dune 1965',
      'deleted 2 Dune 1965',
      'updated 1 Dune 2',
    ]);
    assert.deepEqual(describeChanges((await readPage(history, { id: 1 })).changes), [
      'updated 1 Dune 2',
      'created 1 Dune 1965',
    ]);
    assertSameJson(await history.restore(2), { id: 2, ...DUNE });
  });

  test('is kept from the trigger of version 0.1 that prunes it, and says so', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await using opened = await openWithHistory(`sqlite:${path}`);
    const { store, history } = opened;
    await createMany(store, [DUNE, DUNE, DUNE]);
    const [first] = await readAll(history);
    const last = await history.last();
    // As if 100,000 changes had followed.
    execute(path, FORGET_0_1.replace('100000', '1'));
    execute(path, 'update books set year = 1 where id = 3');
    await whenAvailable(() => history.last());
    assert.equal(await history.read({ limit: 9, after: first?.cursor }), 'removed');
    assert.deepEqual(describeChanges(await readAll(history)), ['updated 3 Dune 1']);
    assert.equal((await readPage(history, { after: last })).changes.length, 1);
    await store.update(1, { year: 2 });
    await store.update(2, { year: 2 });
    assert.equal((await readAll(history)).length, 3);
  });

  test('is continued when version 0.1 turns it off, and on again, beside it', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await using opened = await openWithHistory(`sqlite:${path}`);
    await opened.store.create(DUNE);
    // What version 0.1 does at a start without HISTORY.
    for (const trigger of ['insert', 'update', 'delete'])
      execute(path, `drop trigger book_history_${trigger}`);
    execute(path, `update book_history set days = null; ${FORGET_0_1}`);
    await assert.rejects(opened.history.last(), { name: 'StoreUnavailable' });
    await sleep(1_500);
    await assert.rejects(opened.history.last(), { name: 'StoreUnavailable' });
    await using again = await openWithHistory(`sqlite:${path}`);
    await again.store.update(1, { year: 1 });
    assert.deepEqual(describeChanges((await readPage(again.history, { id: 1 })).changes), [
      'updated 1 Dune 1',
      'created 1 Dune 1965 gap',
    ]);
  });

  for (const [what, sql] of [
    [
      'an altered trigger',
      'drop trigger book_history_update; create trigger book_history_update after update on books begin select 1; end',
    ],
    ['no trigger of removals', 'drop trigger book_history_removed; delete from book_changes where id = 1'],
    ['no state', 'delete from book_history'],
    ['other columns', 'drop trigger book_history_removed; alter table book_changes drop column nonce'],
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
      const fault = await history.read({ limit: 9, after: before });
      assert.ok(fault === 'removed' || fault === 'unknown', JSON.stringify(fault));
      assert.deepEqual(describeChanges(await readAll(history)), ['updated 2 Dune 2']);
    });
  }

  test('of a table that was dropped does not accept the cursors of earlier changes at the same positions', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await using opened = await openWithHistory(`sqlite:${path}`);
    const { store, history } = opened;
    await createMany(store, [DUNE, DUNE, DUNE]);
    const cursors = (await readAll(history)).map(({ cursor }) => cursor);
    execute(path, 'drop table book_changes; drop table book_history');
    await whenAvailable(() => history.last());
    for (const year of [1, 2, 3, 4]) await store.update(1, { year });
    for (const after of cursors) assert.equal(typeof (await history.read({ limit: 9, after })), 'string');
    assert.equal((await readAll(history)).length, 4);
  });

  test('of a table that was dropped is not that of other books, whose changes have the same positions', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await using opened = await openWithHistory(`sqlite:${path}`);
    const { store, history } = opened;
    await createMany(store, [DUNE, DUNE, DUNE]);
    // What the service does when 1,000 changes wait to be indexed.
    execute(
      path,
      'insert into book_changes_by_book select id, note from book_changes; drop table book_changes',
    );
    await whenAvailable(() => history.last());
    await createMany(store, [DUNE, DUNE, DUNE]);
    execute(path, 'update book_history set indexed = (select max(note) from book_changes)');
    for (const id of [1, 2, 3]) assert.deepEqual((await readPage(history, { id })).changes, []);
  });

  for (const isOn of [true, false]) {
    test(`does not hinder a start ${isOn ? 'with' : 'without'} it when its tables were dropped`, async () => {
      await using folder = await createFolder();
      const path = join(folder.path, 'books.db');
      await (await openWithHistory(`sqlite:${path}`))[Symbol.asyncDispose]();
      execute(path, 'drop table book_changes; drop table book_history; drop table book_changes_by_book');
      await using resources = new AsyncDisposableStack();
      const store = isOn
        ? resources.use(await openWithHistory(`sqlite:${path}`)).store
        : resources.use(await openWithoutHistory(`sqlite:${path}`));
      assertSameJson(await store.create(DUNE), { id: 1, ...DUNE });
    });
  }

  test('finds what searches find after it was put right', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await using opened = await openWithHistory(`sqlite:${path}`);
    const { store, history } = opened;
    await store.create(DUNE);
    const query = { sort: 'id', isDescending: false, yearFrom: -9_999, yearTo: 9_999 } as const;
    assert.equal((await store.count({ ...query, q: 'dune' })).count, 1);
    execute(path, `drop trigger book_history_update; update books set title = 'Emma'`);
    await whenAvailable(() => history.last());
    assert.equal((await store.count({ ...query, q: 'dune' })).count, 0);
    assert.equal((await store.count({ ...query, q: 'emma' })).count, 1);
  });

  test('is the same whether its changes are indexed by book, in part or not yet', () => {
    using database = openLog();
    const reader = new ChangeReader(database);
    const read = () => [
      ...[1, 2, 3].map((id) => reader.read({ limit: 9, id })),
      reader.read({ limit: 9, isOfDeleted: true }),
    ];
    database.exec(`insert into books (title) values ('a'), ('b'), ('c'); delete from books where id < 3`);
    stopRecording(database);
    recordBooks(database, 90);
    database.exec(`insert into books (id, title) values (1, 'a'); update books set year = 5`);
    const expected = read();
    for (const indexed of [1, 4, 6, 7, 9]) {
      database.exec(`delete from book_changes_by_book; update book_history set indexed = 0`);
      const limited = database.prepare(
        'insert into book_changes_by_book select id, note from book_changes where note <= ?',
      );
      limited.run(indexed);
      database.prepare('update book_history set indexed = ?').run(indexed);
      assert.deepEqual(read(), expected);
      assert.equal(reader.index(), false);
      assert.deepEqual(read(), expected);
    }
    assert.deepEqual(describeChanges(pageOf(expected[2]).changes), ['updated 3 c 5', 'created 3 c 0 gap']);
  });

  test('indexes 2,000 changes by book in a step', () => {
    using database = openLog();
    database.exec(books(4_500));
    const reader = new ChangeReader(database);
    const steps: unknown[] = [];
    for (let hasMore = true; hasMore; ) {
      hasMore = reader.index();
      steps.push(database.prepare('select count(*) as count from book_changes_by_book').get()?.count);
    }
    // The first is the gap from which the log begins.
    assert.deepEqual(steps, [2_000, 4_000, 4_501]);
  });

  test('indexes 1,000 changes by book once no others follow', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await using _ = await openWithHistory(`sqlite:${path}`);
    execute(path, books(1_000));
    while (select(path, 'select indexed from book_history') !== 1_001) await sleep(20);
  });

  test('indexes 1,000 changes by book although a few follow, such as restores of deleted books', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await using opened = await openWithHistory(`sqlite:${path}`);
    execute(path, books(1_000));
    for (let year = 1; Number(select(path, 'select indexed from book_history')) < 1_001; year++) {
      await opened.store.update(1, { year });
      await sleep(20);
    }
  });

  test('indexes 100,000 changes by book although others follow', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await using opened = await openWithHistory(`sqlite:${path}`);
    execute(path, books(100_000));
    for (let year = 1; Number(select(path, 'select indexed from book_history')) < 100_000; year++)
      await opened.store.update(1, { year });
  });

  test('keeps 100,000 ids for the search index, and all changes, while it is off', () => {
    using database = openLog();
    database.exec(books(1_000));
    database.exec('create table book_search_index (name text, version text)');
    stopRecording(database);
    for (let year = 1; year <= 101; year++) database.exec(`update books set year = ${year}`);
    const count = database.prepare('select count(*) as count from book_changes where (type is null) = ?');
    assert.deepEqual([count.get(1)?.count, count.get(0)?.count], [100_000, 1_001]);
  });

  for (const [what, request] of [
    ['for followers', {}],
    ['of a book', { id: 1 }],
    ['of deleted books', { isOfDeleted: true }],
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

  test('removes at most 4 MiB of changes in a step, and those of long books one by one', () => {
    using database = openLog();
    const title = 'x'.repeat(1_500_000);
    for (let book = 0; book < 9; book++) database.exec(`insert into books (title) values ('${title}')`);
    database.exec(`update book_changes set at = 0; insert into books (title) values ('new')`);
    const reader = new ChangeReader(database);
    const remaining: unknown[] = [];
    for (let hasMore = true; hasMore; ) {
      hasMore = reader.removeOld();
      remaining.push(database.prepare('select count(*) as count from book_changes').get()?.count);
    }
    // The first row is the gap from which the log begins.
    assert.deepEqual(remaining, [8, 6, 4, 2, 1]);
    assert.deepEqual(describeChanges(pageOf(reader.read({ limit: 9 })).changes), ['created 10 new 0']);
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

  test('that was off is recorded as soon as another program no longer locks the store', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await (await openWithHistory(`sqlite:${path}`))[Symbol.asyncDispose]();
    await using store = await openWithoutHistory(`sqlite:${path}`);
    using locker = new DatabaseSync(path);
    locker.exec('begin immediate');
    const causes: unknown[] = [];
    const address = { engine: 'sqlite', path } as const;
    await using history = await openHistory(address, 90, observerOf(causes));
    assert.ok(history);
    assert.deepEqual(causes, ['history: SQLITE_BUSY']);
    await assert.rejects(history.last(), { name: 'StoreUnavailable' });
    locker.exec('rollback');
    await whenAvailable(() => history.last());
    await store.create(DUNE);
    assert.deepEqual(describeChanges(await readAll(history)), ['created 1 Dune 1965']);
    assert.deepEqual(causes.slice(1), ['history: undefined']);
  });

  test('acknowledges no restore to a file that was replaced, and ends the process', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await using opened = await openWithHistory(`sqlite:${path}`);
    const { store, history } = opened;
    await store.create(DUNE);
    await store.delete(1);
    assert.equal(await history.restore(2), undefined);
    await rename(path, join(folder.path, 'moved.db'));
    await assert.rejects(history.restore(1), { name: 'StoreUnavailable' });
    assert.match((await history.lost) ?? '', /was deleted or replaced under the service$/);
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
  recordBooks(database, 90);
  return database;
}

/** A store as version 0.1 leaves it, with a book and a deleted one. */
async function storeOf01(folder: string): Promise<string> {
  const path = join(folder, 'books.db');
  await (await openStoreAt(`sqlite:${path}`))[Symbol.asyncDispose]();
  execute(path, HISTORY_0_1);
  for (let book = 0; book < 2; book++)
    execute(path, `insert into books (title, author, year) values ('Dune', 'Frank Herbert', 1965)`);
  execute(path, 'delete from books where id = 2');
  return path;
}

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
