import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, readdir, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { YEAR_MAX } from '../../src/book/book.ts';
import type { FailureCause, StoreObserver } from '../../src/store/observer.ts';
import { backUpStore, restoreStore } from '../../src/store/sqlite/files/backups.ts';
import { createFolder } from '../../testkit/folder.ts';
import { createMany, openStoreAt, type SearchableStore } from '../../testkit/stores.ts';

// SQLite reads this when it is first used. The other folders of a test may be in memory, where nothing counts as written.
process.env.SQLITE_TMPDIR = '/var/tmp';

const ILIAD = { title: 'The Iliad', author: 'Homer', year: -750 };
const ODYSSEY = { title: 'The Odyssey', author: 'Homer', year: -725 };

describe('The search index in SQLite', () => {
  test('is a file beside the books, which a restart keeps and updates', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    const index = await indexOf(path);
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
    assert.equal(await indexOf(path), index);
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

  test('finds long texts without copies of them in temporary files', async () => {
    await using folder = await createFolder();
    await using store = await openStoreAt(`sqlite:${join(folder.path, 'books.db')}`);
    const long = { title: 'The Iliad', author: 'Homer '.repeat(50_000), year: -750 };
    for (let book = 0; book < 50; book++) await store.create(long);
    const page = async (q: string) => {
      const before = process.resourceUsage().fsWrite;
      await store.search({ sort: 'title', isDescending: false, yearFrom: -YEAR_MAX, yearTo: YEAR_MAX, q }, 1);
      return process.resourceUsage().fsWrite - before;
    };
    while ((await count(store, 'iliad')) !== 50);
    // At any of the searches, the system may write what was stored before. The texts have 30,000 blocks.
    const blocks: number[] = [];
    for (const q of ['the', 'iliad', 'homer', 'i', 'h']) blocks.push(await page(q));
    assert.ok(Math.min(...blocks) < 10_000, `blocks of 512 bytes: ${blocks.join(', ')}`);
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
    await untilIndexed(store, path);
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
    assert.equal((await stat(await indexOf(path))).mode & 0o777, process.getuid?.() === 0 ? 0o600 : 0o666);
    searching.kill('SIGKILL');
    await exit;
  });

  test('has the permissions of the books', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path, 0o640);
    assert.equal((await stat(await indexOf(path))).mode & 0o777, 0o640);
  });

  test('is shared by all processes', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    const index = await indexOf(path);
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
    assert.equal(await indexOf(path), index);
  });

  test('is shared by processes that open the books by a link in another folder', async () => {
    await using folder = await createFolder();
    await using others = await createFolder();
    const path = await storeWithIndex(folder.path);
    const index = await indexOf(path);
    const link = join(others.path, 'books.db');
    await symlink(path, link);
    await using store = await openStoreAt(`sqlite:${link}`);
    assert.equal(await count(store, 'iliad'), 1);
    assert.equal(await indexOf(path), index);
    assert.deepEqual(await readdir(others.path), ['books.db']);
  });

  test('replaces and deletes only files that are an index by their name and content', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    const index = await indexOf(path);
    const others = ['archive.db', 'notes.txt', '1f9c02ab', '2f9c02ab', '1f9c02abcd', '3f9c02ab-wal'];
    const paths = others.map((name) => `${path}-search-${name}`);
    const [archive = '', notes = '', store = '', text = '', copy = '', log = ''] = paths;
    for (const file of [archive, store]) {
      await using neighbour = await openStoreAt(`sqlite:${file}`);
      await neighbour.create(ODYSSEY);
    }
    for (const file of [notes, text, log]) await writeFile(file, 'not an index');
    await copyFile(index, copy);
    execute(path, "update book_search_index set version = 'schema 0'");
    {
      await using searched = await openStoreAt(`sqlite:${path}`);
      assert.equal(await count(searched, 'iliad'), 1);
    }
    const left = await readdir(folder.path);
    for (const name of others) assert.ok(left.includes(`books.db-search-${name}`), name);
    assert.equal(left.includes(basename(index)), false);
    for (const file of [archive, store]) {
      await using neighbour = await openStoreAt(`sqlite:${file}`);
      assert.equal((await neighbour.find(1))?.title, ODYSSEY.title);
    }
  });

  test('of a newer version is left alone; searches work without it, and an older one is replaced', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    const index = await indexOf(path);
    await using store = await openStoreAt(`sqlite:${path}`);
    assert.equal(await count(store, 'iliad'), 1);
    execute(
      path,
      "update book_search_index set name = '99999999', version = 'schema 99, folding 1, Unicode 1.0'",
    );
    for (let round = 1; round <= 3; round++) {
      await store.create(ODYSSEY);
      assert.equal(await count(store, 'odyssey'), round);
      assert.equal(await indexOf(path), `${path}-search-99999999`);
    }
    execute(path, "update book_search_index set version = 'schema 2, folding 99, Unicode 99.0'");
    assert.equal(await count(store, 'odyssey'), 3);
    await untilIndexed(store, path);
    assert.notEqual(await indexOf(path), index);
    assert.equal(await count(store, 'odyssey'), 3);
  });

  test('of the former version, without an application id, is deleted when it is replaced', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    const index = await indexOf(path);
    execute(index, 'pragma application_id = 0; pragma user_version = 0');
    execute(path, "update book_search_index set version = 'schema 0'");
    await using store = await openStoreAt(`sqlite:${path}`);
    assert.equal(await count(store, 'iliad'), 1);
    assert.notEqual(await indexOf(path), index);
  });

  for (const [what, change] of [
    ['has an older version', (path) => execute(path, "update book_search_index set version = 'schema 0'")],
    ['was deleted', async (path) => rm(await indexOf(path))],
    ['is empty', async (path) => truncate(await indexOf(path))],
    ['is no database', async (path) => writeFile(await indexOf(path), 'no database'.repeat(1_000))],
    ['is damaged', async (path) => damage(await indexOf(path))],
    ['has no state', async (path) => execute(await indexOf(path), 'delete from book_search_state')],
    ['has no tables', async (path) => execute(await indexOf(path), 'drop table book_search')],
    ['lacks changes that the log has forgotten', (path) => execute(path, FORGET)],
    ['lacks changes, as the log was deleted', (path) => execute(path, DELETE_LOG)],
    ['lacks the latest change, which was deleted from the log', (path) => execute(path, DELETE_LATEST)],
  ] as const satisfies [string, (path: string) => void | Promise<void>][]) {
    test(`is rebuilt if it ${what}; searches are complete meanwhile`, async () => {
      await using folder = await createFolder();
      const path = await storeWithIndex(folder.path);
      const index = await indexOf(path);
      foldOtherwise(index);
      await change(path);
      await using store = await openStoreAt(`sqlite:${path}`);
      assert.equal(await count(store, 'iliad'), 1);
      await untilIndexed(store, path);
      assert.equal(await count(store, 'iliad'), 1);
      assert.notEqual(await indexOf(path), index);
    });
  }

  test('is rebuilt after the books were replaced by an earlier copy of them, also when it has grown', async () => {
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
    // As many restarts as before, and more books, so that the numbers are those of the index.
    for (let restart = 0; restart < 4; restart++) {
      await using store = await openStoreAt(`sqlite:${path}`);
      await store.create({ ...ODYSSEY, title: 'Theogony' });
    }
    await using store = await openStoreAt(`sqlite:${path}`);
    assert.equal(await count(store, 'theogony'), 4);
    assert.equal(await count(store, 'odyssey'), 0);
    await untilIndexed(store, path);
    assert.equal(await count(store, 'theogony'), 4);
  });

  test('is rebuilt after a restore, also if another program writes before the next start', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    const backup = join(folder.path, 'backup');
    {
      await using store = await openStoreAt(`sqlite:${path}`);
      assert.equal(await count(store, 'iliad'), 1);
      await backUpStore(path, backup, () => {});
      await store.create(ODYSSEY);
      assert.equal(await count(store, 'odyssey'), 1);
    }
    await restoreStore(path, backup, () => {});
    execute(path, `insert into books (title, author, year) values ('Theogony', 'Hesiod', -700)`);
    await using store = await openStoreAt(`sqlite:${path}`);
    assert.equal(await count(store, 'theogony'), 1);
    assert.equal(await count(store, 'odyssey'), 0);
  });

  test('is rebuilt after the books were replaced by others with the same numbers', async () => {
    await using folder = await createFolder();
    await using others = await createFolder();
    const path = await storeWithIndex(folder.path);
    const index = await indexOf(path);
    const other = await storeWithIndex(others.path, undefined, { ...ODYSSEY, title: 'Theogony' });
    execute(other, `update book_search_index set name = '${index.split('-search-')[1]}'`);
    await copyFile(other, path);
    await using store = await openStoreAt(`sqlite:${path}`);
    assert.equal(await count(store, 'iliad'), 0);
    assert.equal(await count(store, 'theogony'), 1);
    await untilIndexed(store, path);
    assert.equal(await count(store, 'theogony'), 1);
  });

  test('is completed after the process that built it was killed', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    await (await openStoreAt(`sqlite:${path}`))[Symbol.asyncDispose]();
    execute(
      path,
      `insert into books (title, author, year)
       with recursive n (i) as (select 1 union all select i + 1 from n where i < 30000)
       select 'Iliad ' || i, 'Homer', i from n`,
    );
    const searching = fork(join(import.meta.dirname, 'searching-process.ts'), [`sqlite:${path}`]);
    while (!((await stateOf(path))?.books ?? 0)) await sleep(5);
    searching.kill('SIGKILL');
    await once(searching, 'exit');
    const index = await indexOf(path);
    await using store = await openStoreAt(`sqlite:${path}`);
    assert.equal(await count(store, 'iliad'), 30_000);
    await untilIndexed(store, path);
    assert.equal(await indexOf(path), index);
    assert.equal((await stateOf(path))?.books, 30_000);
    assert.equal(await count(store, 'iliad'), 30_000);
  });

  for (const [cause, statement] of [
    ['SQLITE_CORRUPT', "update book_words_data set block = x'ff' where id > 10"],
    ['SQLite result code 1', 'drop table book_words'],
  ] as const) {
    test(`reports damage that a search meets, and searches without it: ${cause}`, async () => {
      await using folder = await createFolder();
      const path = await storeWithIndex(folder.path);
      const causes: (FailureCause | undefined)[] = [];
      await using store = await openStoreAt(`sqlite:${path}`, observerOf(causes));
      assert.equal(await count(store, 'iliad'), 1);
      execute(await indexOf(path), statement);
      assert.equal(await count(store, 'iliad'), 1);
      await untilIndexed(store, path);
      assert.equal(await count(store, 'iliad'), 1);
      assert.deepEqual(causes, [cause, undefined]);
    });
  }

  test('is rebuilt if the starts of the store were deleted', async () => {
    await using folder = await createFolder();
    const path = await storeWithIndex(folder.path);
    await using store = await openStoreAt(`sqlite:${path}`);
    assert.equal(await count(store, 'iliad'), 1);
    execute(path, 'delete from book_search_starts');
    assert.equal(await count(store, 'iliad'), 1);
  });
});

const FORGET = `
  update books set year = year + 1;
  update books set year = year - 1;
  delete from book_changes where note = (select min(note) from book_changes);
`;
const DELETE_LATEST = `
  update books set year = year + 1;
  update books set year = year - 1;
  delete from book_changes where note = (select max(note) from book_changes);
`;
const DELETE_LOG = 'update books set year = year; delete from book_changes';

/** Creates a store of one book with a complete index. @returns its path */
async function storeWithIndex(folder: string, mode?: number, book = ILIAD): Promise<string> {
  const path = join(folder, 'books.db');
  if (mode !== undefined) await writeFile(path, '', { mode });
  await using store = await openStoreAt(`sqlite:${path}`);
  await store.create(book);
  await untilIndexed(store, path);
  return path;
}

function count(store: SearchableStore, q: string): Promise<number> {
  const query = { sort: 'id', isDescending: false, yearFrom: -YEAR_MAX, yearTo: YEAR_MAX, q } as const;
  return countFrom(store, query);
}

async function countFrom(
  store: SearchableStore,
  query: Parameters<SearchableStore['count']>[0],
): Promise<number> {
  let sum = 0;
  let last: Parameters<SearchableStore['count']>[1];
  do {
    const counted = await store.count(query, last);
    sum += counted.count;
    last = counted.last;
  } while (last);
  return sum;
}

/** The file of the current index. */
async function indexOf(path: string): Promise<string> {
  using database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  const entry = database.prepare('select name from book_search_index').get();
  return `${path}-search-${String(entry?.name)}`;
}

/** Searches until the index is complete. */
async function untilIndexed(store: SearchableStore, path: string): Promise<void> {
  do await count(store, 'none');
  while (!(await stateOf(path))?.isComplete);
}

/** @returns undefined while there is no index */
async function stateOf(path: string): Promise<{ isComplete: number; books: number } | undefined> {
  try {
    using database = new DatabaseSync(await indexOf(path), { readOnly: true });
    const sql = `select is_complete as isComplete, (select count(*) from book_search) as books from book_search_state`;
    return database.prepare(sql).get() as { isComplete: number; books: number } | undefined;
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
