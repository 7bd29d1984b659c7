import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { YEAR_MAX } from '../../src/book/book.ts';
import type { StoreUnavailable } from '../../src/book/book-store.ts';
import { openHistory } from '../../src/history/open-history.ts';
import type { Progress } from '../../src/search/index-wait.ts';
import { Parameters as StatementParameters } from '../../src/search/parameters.ts';
import { Searcher } from '../../src/search/searcher.ts';
import { SearchIndex } from '../../src/search/sqlite/search-index.ts';
import { SqliteSnapshots } from '../../src/search/sqlite/snapshots.ts';
import type { FailureCause, StoreObserver } from '../../src/store/observer.ts';
import { backUpStore, restoreStore } from '../../src/store/sqlite/files/backups.ts';
import { openConnection } from '../../src/store/sqlite/files/connection.ts';
import { createFolder } from '../../testkit/folder.ts';
import { NO_OBSERVER } from '../../testkit/no-observer.ts';
import { countAll, createMany, openStoreAt, type SearchableStore, searchAll } from '../../testkit/stores.ts';

const ILIAD = { title: 'The Iliad', author: 'Homer', year: -750 };
const NO_INDEX = 'a file that is no search index has the name of the search index';
const BY_ID = { sort: 'id', isDescending: false, yearFrom: -YEAR_MAX, yearTo: YEAR_MAX } as const;
const ODYSSEY = { title: 'The Odyssey', author: 'Homer', year: -725 };

describe('The search index in SQLite', () => {
  test('is a file beside the books with one name, which a restart keeps and updates', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    const index = indexOf(path);
    foldOtherwise(index);
    {
      await using store = await openStoreAt(`sqlite:${path}`);
      assert.equal(await count(store, 'iliad'), 0);
      await store.create(ODYSSEY);
      assert.equal(await count(store, 'odyssey'), 1);
      await store.update(1, { title: 'The Iliad again' });
      assert.equal(await count(store, 'iliad'), 1);
    }
    await using store = await openStoreAt(`sqlite:${path}`);
    assert.equal(await count(store, 'odyssey'), 1);
    assert.equal(indexOf(path), index);
  });

  test('is updated after every kind of change', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    await using store = await openStoreAt(`sqlite:${path}`);
    for (let round = 1; round <= 10; round++) {
      // Deletes of several generations make FTS5 write what it does not for the first ones.
      const [first, second] = await createMany(
        store,
        Array.from({ length: 20 }, () => ODYSSEY),
      );
      assert.equal(await count(store, 'odyssey'), 18 * round + 2);
      await store.update(first?.id ?? 0, { title: 'Theogony' });
      assert.equal(await count(store, 'theogony'), 1);
      for (const book of [first, second]) await store.delete(book?.id ?? 0);
      assert.equal(await count(store, 'theogony'), 0);
      assert.equal(await count(store, 'odyssey'), 18 * round);
    }
  });

  test('has what is below the highest id again, above the sequence, and by a statement that failed', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    await using store = await openStoreAt(`sqlite:${path}`);
    assert.equal(await count(store, 'iliad'), 1);
    for (const [statement, iliads] of [
      ['delete from books', 0],
      [`insert into books values (1, 'The Iliad', 'Homer', -750)`, 1],
      ['update books set id = 100', 1],
      [`insert into books values (50, 'The Iliad', 'Homer', -750)`, 2],
      [`update or fail books set title = 'Theogony', id = 50`, 1],
      ['delete from books where id = 100', 0],
    ] as const) {
      try {
        execute(path, statement);
      } catch (error) {
        assert.match(String(error), /UNIQUE/);
      }
      assert.equal(await count(store, 'iliad'), iliads, statement);
    }
  });

  test('is completed if all ids are above the sequence', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await using store = await openStoreAt(`sqlite:${path}`);
    const books = Array.from({ length: 10_000 }, () => ILIAD);
    await createMany(store, books);
    execute(path, 'update books set id = id + 100000');
    assert.equal(await count(store, 'iliad'), books.length);
    execute(path, 'delete from books where id > 100010');
    assert.equal(await count(store, 'iliad'), 10);
  });

  test('is created by a process that may not set its owner', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await (await openStoreAt(`sqlite:${path}`))[Symbol.asyncDispose]();
    for (const [file, mode] of [
      [folder.path, 0o777],
      [path, 0o666],
    ] as const)
      await chmod(file, mode);
    const searching = fork(join(import.meta.dirname, 'searching-process.ts'), [`sqlite:${path}`, '65534']);
    const exit = once(searching, 'exit');
    while (searching.exitCode === null && !(await stateOf(path))?.isComplete) await sleep(5);
    assert.equal((await stat(indexOf(path))).mode & 0o777, process.getuid?.() === 0 ? 0o600 : 0o666);
    searching.kill('SIGKILL');
    await exit;
  });

  test('has the permissions of the books', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path, 0o640);
    assert.equal((await stat(indexOf(path))).mode & 0o777, 0o640);
  });

  test('is shared by all processes', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    const index = indexOf(path);
    foldOtherwise(index);
    await using first = await openStoreAt(`sqlite:${path}`);
    await using second = await openStoreAt(`sqlite:${path}`);
    for (const store of [first, second]) assert.equal(await count(store, 'iliad'), 0);
    for (let number = 1; number <= 20; number++) {
      const [writer, reader] = number % 2 === 0 ? [first, second] : [second, first];
      await writer.create(ODYSSEY);
      assert.deepEqual(await Promise.all([count(reader, 'odyssey'), count(writer, 'odyssey')]), [
        number,
        number,
      ]);
    }
    assert.equal(indexOf(path), index);
  });

  test('is shared by processes that open the books by a link in another folder', async () => {
    await using folder = await createFolder();
    await using others = await createFolder();
    const path = await storeWithIndex(folder.path);
    const index = indexOf(path);
    const link = join(others.path, 'books.db');
    await symlink(path, link);
    await using store = await openStoreAt(`sqlite:${link}`);
    assert.equal(await count(store, 'iliad'), 1);
    assert.equal(indexOf(path), index);
    assert.deepEqual(await readdir(others.path), ['books.db']);
  });

  for (const [what, change] of [
    ['has another version', (path) => execute(indexOf(path), "update state set version = 'schema 0'")],
    ['was deleted', (path) => rm(indexOf(path))],
    ['is empty', (path) => truncate(indexOf(path))],
    ['is damaged', (path) => damage(indexOf(path))],
    ['has no state', (path) => execute(indexOf(path), 'delete from state')],
    ['has no tables', (path) => execute(indexOf(path), 'drop table book_search; drop table state')],
    ['lacks changes that the log has forgotten', (path) => execute(path, FORGET)],
    ['lacks changes, as the log was deleted', (path) => execute(path, DELETE_LOG)],
    ['is one that FTS5 cannot read', (path) => execute(indexOf(path), 'delete from book_words_config')],
    ['has a change that the log has in another form', (path) => execute(path, RENUMBER)],
  ] as const satisfies [string, (path: string) => void | Promise<void>][]) {
    test(`is built anew if it ${what}`, async () => {
      await using folder = await createFolder();
      const path = await storeWithIndex(folder.path);
      foldOtherwise(indexOf(path));
      await change(path);
      await using store = await openStoreAt(`sqlite:${path}`);
      assert.equal(await count(store, 'iliad'), 1);
      assert.equal(await count(store, 'other'), 0);
    });
  }

  test('is deleted by the step that finds it damaged, and built anew by the next ones', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    await damage(indexOf(path));
    const store = await openConnection(path);
    const index = await SearchIndex.open(store);
    assert.deepEqual(stepOf(index), { isCurrent: false, percent: 0, wasDamaged: true });
    while (!stepOf(index).isCurrent);
    index.close();
    store.close();
  });

  test('of another version, with other tables, is emptied and built anew without being called damaged', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    execute(
      indexOf(path),
      `drop table positions; drop table book_search; create table book_search (id integer primary key, key text);
       update state set version = 'schema 0'`,
    );
    const { ino } = await stat(indexOf(path));
    const causes: (FailureCause | undefined)[] = [];
    await using store = await openStoreAt(`sqlite:${path}`, observerOf(causes));
    assert.equal(await count(store, 'iliad'), 1);
    assert.deepEqual(causes, []);
    assert.equal((await stat(indexOf(path))).ino, ino);
  });

  test('is reported as damaged by a list by id that would only count by it, and then counts the books', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    const snapshots = new SqliteSnapshots(await openConnection(path));
    while (!(await snapshots.update()).isCurrent);
    execute(indexOf(path), 'drop table book_words');
    execute(path, `insert into books (title, author, year) values ('Theogony', 'Hesiod', -700)`);
    const booksOf = () =>
      snapshots.run('if up to date', async (snapshot) => 'books' in snapshot && snapshot.books);
    assert.deepEqual(await booksOf(), { progress: { isCurrent: false, percent: 0, wasDamaged: true } });
    assert.notDeepEqual(await booksOf(), { found: 'book_search' });
    while (!(await snapshots.update()).isCurrent);
    assert.deepEqual(await booksOf(), { found: 'book_search' });
    await snapshots.close();
  });

  test('has each write before a search, also if searches that arrived earlier share a snapshot', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    const snapshots = new SqliteSnapshots(await openConnection(path));
    const searcher = new Searcher(snapshots);
    const countBooks = async (arrivedAt: bigint) => {
      const outcome = await searcher.count({ ...BY_ID, q: 'h' }, undefined, arrivedAt);
      return 'found' in outcome ? outcome.found.count : undefined;
    };
    for (let books = 1; books <= 5; books++) {
      const arrivedAt = process.hrtime.bigint();
      assert.equal(await countBooks(arrivedAt), books);
      assert.equal(await countBooks(arrivedAt), books);
      execute(path, `insert into books (title, author, year) values ('Theogony', 'Hesiod', -700)`);
      // Perhaps without this book, which was written later.
      assert.ok([books, books + 1].includes((await countBooks(arrivedAt)) ?? 0));
      assert.equal(await countBooks(process.hrtime.bigint()), books + 1);
    }
    await searcher.close();
  });

  for (const [what, change] of [
    ['deleted', (index) => rm(index)],
    ['emptied', (index) => execute(index, 'drop table book_search; drop table state')],
    ['damaged', (index) => damageWords(index)],
    ['without a table', (index) => execute(index, 'drop table book_words')],
    ['without a table of FTS5', (index) => execute(index, 'drop table book_words_docsize')],
    ['altered', (index) => execute(index, 'alter table book_search rename column bytes to length')],
    ['with a trigger that fails', (index) => execute(index, FAILING_TRIGGER)],
    ['with a trigger that raises an error', (index) => execute(index, RAISING_TRIGGER)],
    ['of sizes beyond all memory', (index) => execute(index, ENORMOUS_SIZES)],
    ['of other words', (index) => execute(index, 'update book_words_data set block = randomblob(40)')],
    ['of other trigrams', (index) => execute(index, 'update book_trigrams_data set block = randomblob(40)')],
  ] as const satisfies [string, (index: string) => void | Promise<void>][]) {
    test(`is built anew if it is ${what} while two processes use it`, async () => {
      await using folder = await createFolder();
      const path = await storeWithIndex(folder.path);
      await using one = await openStoreAt(`sqlite:${path}`);
      await using other = await openStoreAt(`sqlite:${path}`);
      for (const store of [one, other]) assert.equal(await count(store, 'iliad'), 1);
      await change(indexOf(path));
      for (const store of [one, other, one, other]) {
        assert.equal(await count(store, 'iliad'), 1);
        await store.create(ODYSSEY);
      }
      for (const store of [one, other]) assert.equal(await count(store, 'odyssey'), 4);
    });
  }

  test('stays as it is when a statement over it is wrong', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    const { ino } = await stat(indexOf(path));
    const snapshots = new SqliteSnapshots(await openConnection(path));
    while (!(await snapshots.update()).isCurrent);
    const runStatement = (sql: string) =>
      snapshots.run(
        'required',
        async (snapshot) => 'rows' in snapshot && snapshot.rows(sql, new StatementParameters('?')),
      );
    for (const [sql, message] of [
      ['select no_such_function()', /no such function/],
      ['select no_such_column from book_search', /no such column/],
      ["select rowid from book_words where book_words match '\"'", /unterminated string/],
    ] as const)
      await assert.rejects(runStatement(sql), message);
    const outcome = await runStatement('select count(*) as books from book_search');
    assert.equal('found' in outcome && outcome.found && outcome.found[0]?.books, 1);
    await snapshots.close();
    assert.equal((await stat(indexOf(path))).ino, ino);
  });

  test('stays as it is while another program has altered the log of changes, and the log has the error', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    const { ino } = await stat(indexOf(path));
    const causes: (FailureCause | undefined)[] = [];
    await using store = await openStoreAt(`sqlite:${path}`, observerOf(causes));
    assert.equal(await count(store, 'iliad'), 1);
    execute(path, 'alter table book_changes rename column nonce to other');
    await assert.rejects(count(store, 'iliad'), /no such column: nonce/);
    while (causes.length === 0) await sleep(10);
    assert.match(String(causes[0]), /no such column: nonce/);
    execute(path, 'alter table book_changes rename column other to nonce');
    assert.equal(await count(store, 'iliad'), 1);
    while (causes.length === 1) await sleep(10);
    assert.deepEqual(causes.slice(1), [undefined]);
    assert.equal((await stat(indexOf(path))).ino, ino);
  });

  test('is built anew if it has lost its end, so that SQLite does not open it', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    foldOtherwise(indexOf(path));
    await truncate(indexOf(path), 8_192);
    await using store = await openStoreAt(`sqlite:${path}`);
    // A search that arrives while the damage is found is 503.
    const reasons = new Set<string>();
    const search = () =>
      count(store, 'iliad').catch((error: StoreUnavailable) => void reasons.add(error.reason));
    let found = await search();
    for (; found === undefined && !reasons.has(NO_INDEX); found = await search()) await sleep(50);
    assert.equal(found, 1);
    assert.equal(await count(store, 'other'), 0);
  });

  test('that was deleted while processes use it leaves no shared memory to the new one', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    await using one = await openStoreAt(`sqlite:${path}`);
    await using other = await openStoreAt(`sqlite:${path}`);
    for (const store of [one, other]) assert.equal(await count(store, 'iliad'), 1);
    const before = await stat(`${indexOf(path)}-shm`);
    await rm(indexOf(path));
    for (const store of [one, other]) assert.equal(await count(store, 'iliad'), 1);
    // SQLite would have shortened the one that the other process has mapped.
    assert.notEqual((await stat(`${indexOf(path)}-shm`)).ino, before.ino);
  });

  for (const [what, write] of [
    ['a text', (file) => writeFile(file, 'not an index')],
    ['a database', (file) => execute(file, 'create table notes (note text)')],
  ] as const satisfies [string, (file: string) => void | Promise<void>][]) {
    test(`is not made where another program has ${what}, and searches say so`, async () => {
      await using folder = await createFolder();
      const path = join(folder.path, 'books.db');
      await write(indexOf(path));
      const before = await readFile(indexOf(path));
      const causes: (FailureCause | undefined)[] = [];
      await using store = await openStoreAt(`sqlite:${path}`, observerOf(causes));
      await store.create(ILIAD);
      const reason = NO_INDEX;
      for (let round = 0; round < 2; round++)
        await assert.rejects(count(store, 'iliad'), {
          name: 'StoreUnavailable',
          reason,
          detail: `The search index cannot be used: ${reason}`,
        });
      const byId = { sort: 'id', isDescending: true, yearFrom: -YEAR_MAX, yearTo: YEAR_MAX } as const;
      assert.equal((await searchAll(store, byId, 5)).length, 1);
      assert.deepEqual(causes, [reason]);
      assert.deepEqual(await readFile(indexOf(path)), before);
    });
  }

  test('is built anew after the books were replaced by an earlier copy of them, also when it has grown', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    const copy = join(folder.path, 'copy');
    await copyFile(path, copy);
    {
      await using store = await openStoreAt(`sqlite:${path}`);
      for (let number = 0; number < 3; number++) await store.create(ODYSSEY);
      assert.equal(await count(store, 'odyssey'), 3);
    }
    await copyFile(copy, path);
    for (let number = 0; number < 4; number++)
      execute(path, `insert into books (title, author, year) values ('Theogony', 'Hesiod', -700)`);
    await using store = await openStoreAt(`sqlite:${path}`);
    assert.equal(await count(store, 'theogony'), 4);
    assert.equal(await count(store, 'odyssey'), 0);
  });

  for (const written of [0, 1, 5]) {
    test(`is built anew after an older backup was copied into the running file, and ${written} books were written`, async () => {
      await using folder = await createFolder();
      const path = await storeWithIndex(folder.path);
      const file = join(folder.path, 'backup');
      await using store = await openStoreAt(`sqlite:${path}`);
      await backUpStore(path, file, () => {});
      await store.update(1, { title: 'Theogony' });
      await createMany(store, [ODYSSEY, ODYSSEY]);
      assert.equal(await count(store, 'odyssey'), 2);
      // What `.restore` of the shell of SQLite does.
      using source = new DatabaseSync(file, { readOnly: true });
      await backup(source, path);
      const theogony = { ...ODYSSEY, title: 'Theogony' };
      if (written > 0)
        await createMany(
          store,
          Array.from({ length: written }, () => theogony),
        );
      assert.equal(await count(store, 'odyssey'), 0);
      assert.equal(await count(store, 'iliad'), 1);
      assert.equal(await count(store, 'theogony'), written);
    });
  }

  test('is built anew after a restore, also if another program writes before the next start', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    const file = join(folder.path, 'backup');
    {
      await using store = await openStoreAt(`sqlite:${path}`);
      assert.equal(await count(store, 'iliad'), 1);
      await backUpStore(path, file, () => {});
      await store.create(ODYSSEY);
      assert.equal(await count(store, 'odyssey'), 1);
    }
    await restoreStore(path, file, () => {});
    execute(path, `insert into books (title, author, year) values ('Theogony', 'Hesiod', -700)`);
    await using store = await openStoreAt(`sqlite:${path}`);
    assert.equal(await count(store, 'theogony'), 1);
    assert.equal(await count(store, 'odyssey'), 0);
  });

  test('of another store, which is copied beside this one, is built anew', async () => {
    await using folder = await createFolder();
    await using others = await createFolder();
    const path = await storeWithIndex(folder.path);
    const other = await storeWithIndex(others.path, undefined, { ...ODYSSEY, title: 'Theogony' });
    await copyFile(indexOf(other), indexOf(path));
    await using store = await openStoreAt(`sqlite:${path}`);
    assert.equal(await count(store, 'theogony'), 0);
    assert.equal(await count(store, 'iliad'), 1);
  });

  test('goes on when the history is turned off, on and off again', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    for (const [round, days] of [90, undefined, 90, undefined, undefined].entries()) {
      await using store = await openStoreAt(`sqlite:${path}`);
      execute(path, `insert into books (title, author, year) values ('Theogony', '', 0)`);
      await using _ = await openHistory(store.connection, days, NO_OBSERVER);
      await store.create(ODYSSEY);
      assert.deepEqual(
        [await count(store, 'odyssey'), await count(store, 'theogony')],
        [round + 1, round + 1],
      );
      await store.update(1, { title: `The Iliad ${days}` });
      assert.equal(await count(store, `iliad ${days}`), 1);
    }
  });

  test('has what other programs write, without a search', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    await using _ = await openStoreAt(`sqlite:${path}`);
    execute(path, `insert into books (title, author, year) values ('Theogony', 'Hesiod', -700)`);
    while ((await stateOf(path))?.books !== 2) await sleep(20);
  });

  for (const [what, hasIndex] of [
    ['built it', false],
    ['applied changes to it', true],
  ] as const) {
    test(`is completed after the process that ${what} was killed`, async () => {
      await using folder = await createFolder();
      const path = join(folder.path, 'books.db');
      if (hasIndex) await storeWithIndex(folder.path);
      else await (await openStoreAt(`sqlite:${path}`))[Symbol.asyncDispose]();
      const count0 = hasIndex ? 15_000 : 30_000;
      execute(
        path,
        `insert into books (title, author, year)
         with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count0})
         select 'Odyssey ' || i, 'Homer', i from n`,
      );
      const searching = fork(join(import.meta.dirname, 'searching-process.ts'), [`sqlite:${path}`]);
      const least = hasIndex ? 2 : 1;
      while (((await stateOf(path))?.books ?? 0) < least) await sleep(5);
      searching.kill('SIGKILL');
      await once(searching, 'exit');
      await using store = await openStoreAt(`sqlite:${path}`);
      assert.equal(await count(store, 'odyssey'), count0);
      assert.deepEqual(await stateOf(path), { isComplete: 1, books: count0 + (hasIndex ? 1 : 0) });
    });
  }

  test('has the book up to which a step has built it, if that changes before the next step', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await (await openStoreAt(`sqlite:${path}`))[Symbol.asyncDispose]();
    execute(
      path,
      `insert into books (title, author, year)
       with recursive n (i) as (select 1 union all select i + 1 from n where i < 60000)
       select 'Odyssey ' || i, 'Homer', i from n`,
    );
    const store = await openConnection(path);
    const index = await SearchIndex.open(store);
    assert.equal(stepOf(index).isCurrent, false);
    const { id } = index.database.prepare('select built_to as id from state').get() as { id: number };
    store.prepare("update books set title = 'Theogony' where id = ?").run(id);
    while (!stepOf(index).isCurrent);
    const indexed = index.database.prepare('select title_key from book_search where id = ?').get(id);
    assert.deepEqual({ ...indexed }, { title_key: 'theogony\u0001Theogony' });
    index.close();
    store.close();
  });

  test('has its orders again after many changes, which are applied without them', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    await using store = await openStoreAt(`sqlite:${path}`);
    const odysseys = Array.from({ length: 3_000 }, (_, year) => ({ ...ODYSSEY, year }));
    for (const expected of [3_000, 6_000]) {
      await createMany(store, odysseys);
      assert.equal(await count(store, 'odyssey'), expected);
      using index = new DatabaseSync(indexOf(path), { readOnly: true });
      const orders = "select count(*) as count from sqlite_schema where name like 'by_%'";
      assert.equal(index.prepare(orders).get()?.count, 4);
    }
  });

  test('is damaged: the log says so once, and searches go on', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    const causes: (FailureCause | undefined)[] = [];
    await using store = await openStoreAt(`sqlite:${path}`, observerOf(causes));
    assert.equal(await count(store, 'iliad'), 1);
    damageWords(indexOf(path));
    assert.equal(await count(store, 'iliad'), 1);
    while (causes.length < 2) await sleep(10);
    assert.deepEqual(causes, ['damaged', undefined]);
  });
});

const FORGET = `
  update books set year = year + 1;
  update books set year = year - 1;
  delete from book_changes where note = (select min(note) from book_changes);
`;
const RAISING_TRIGGER =
  "create trigger other before insert on book_search begin select raise(abort, 'no books'); end";
const FAILING_TRIGGER =
  'create trigger failing before insert on book_search begin insert into missing values (1); end';
const RENUMBER =
  'update book_changes set nonce = nonce + 1; update book_history set removed_nonce = removed_nonce + 1';
const DELETE_LOG = 'update books set year = year; delete from book_changes';

/** Creates a store of one book with a complete index. @returns its path */
async function storeWithIndex(folder: string, mode?: number, book = ILIAD): Promise<string> {
  const path = join(folder, 'books.db');
  if (mode !== undefined) await writeFile(path, '', { mode });
  await using store = await openStoreAt(`sqlite:${path}`);
  await store.create(book);
  assert.equal(await count(store, 'none'), 0);
  return path;
}

function stepOf(index: SearchIndex): Progress {
  const progress = index.begin();
  index.end();
  return progress;
}

function count(store: SearchableStore, q: string): Promise<number> {
  return countAll(store, { ...BY_ID, q });
}

function indexOf(path: string): string {
  return `${path}-search`;
}

/** @returns undefined while there is no index */
async function stateOf(path: string): Promise<{ isComplete: number; books: number } | undefined> {
  try {
    using database = new DatabaseSync(indexOf(path), { readOnly: true });
    const sql = 'select is_complete as isComplete, (select count(*) from book_search) as books from state';
    const { isComplete = 0, books = 0 } = database.prepare(sql).get() as Record<string, number>;
    return { isComplete, books };
  } catch {
    return undefined;
  }
}

/** Changes the index like one with other folding rules, so that a search does not find its books. */
function foldOtherwise(index: string): void {
  execute(
    index,
    `update book_search set words = '  other  ', title_lower = 'other';
     delete from book_words where rowid in (select id from book_search)`,
  );
}

function execute(path: string, sql: string): void {
  using database = new DatabaseSync(path, { timeout: 5_000, defensive: false });
  database.exec(sql);
}

/** A structure of FTS5 by which it allocates more than it may. */
const ENORMOUS_SIZES = `update book_trigrams_data
  set block = x'689084a14773867a25a9cacddef5f1b6658154889917b6deb4016545fcda4e55cf711a70d90b5454' where id = 10`;

/** Damages what searches of words read. */
function damageWords(index: string): void {
  execute(index, "update book_words_data set block = x'ff' where id > 10");
}

/** Overwrites all pages but the first. */
async function damage(file: string): Promise<void> {
  const { size } = await stat(file);
  await truncate(file, 4_096);
  await truncate(file, size);
}

function observerOf(causes: (FailureCause | undefined)[]): StoreObserver {
  return {
    operation: () => () => {},
    pool: () => {},
    part: (name) => (cause) => name === 'search index' && causes.push(cause),
  };
}
