import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import { ID_MAX, YEAR_MAX } from '../../src/book/book.ts';
import { TableRejection } from '../../src/book/book-store.ts';
import { SORT_KEYS } from '../../src/search/book-search.ts';
import { StoreNotReady } from '../../src/store/errors.ts';
import { engines } from '../../testkit/engines.ts';
import { createFolder } from '../../testkit/folder.ts';
import { createDatabase, type Database } from '../../testkit/postgres.ts';
import { query as queryAt } from '../../testkit/sql.ts';
import {
  assertNotReady,
  assertSameJson,
  countAll,
  createMany,
  listBooks,
  openArchiveAt,
  openStoreAt,
  searchAll,
  textOf,
  updateMany,
} from '../../testkit/stores.ts';

/** The table that GORM creates. */
const GORM_TABLE = 'create table books (id bigserial primary key, title text, author text, year bigint)';

/** The database of all tables that are rejected, and nothing else is created in. */
let rejecting: Promise<Database> | undefined;
const sharedDatabase = () => (rejecting ??= createDatabase());
after(async () => (await rejecting)?.[Symbol.asyncDispose]());

describe('A table of another program whose ids are all negative', () => {
  for (const engine of engines)
    test(`is searched and counted in every order, on ${engine.name}`, async () => {
      await using address = await engine.createAddress();
      const id = engine.name === 'SQLite' ? 'integer primary key autoincrement' : 'bigserial primary key';
      await queryAt(address.dbUrl, `create table books (id ${id}, title text, author text, year bigint)`);
      await queryAt(
        address.dbUrl,
        `insert into books values (-${ID_MAX}, 'The river', 'A', 1), (-70000, 'The river', 'B', 2), (-1, 'The river', 'C', 3)`,
      );
      await using store = await openStoreAt(address.dbUrl);
      for (const sort of SORT_KEYS) {
        const query = { sort, isDescending: false, q: 'river', yearFrom: 2, yearTo: 3 };
        const books = await searchAll(store, query, 10);
        assert.deepEqual(
          books.map((book) => book.id),
          [-70_000, -1],
          sort,
        );
        assert.equal(await countAll(store, query), 2);
      }
      // As many changes as the index counts its books for, whose ids are farther apart than a number has exactly.
      const canals = Array.from({ length: 2_000 }, () => ({ title: 'The canal', author: '', year: 0 }));
      await createMany(store, canals);
      const canal = { sort: 'id', isDescending: false, q: 'canal', yearFrom: 0, yearTo: 0 } as const;
      assert.equal(await countAll(store, canal), 2_000);
    });
});

describe('A table books that GORM created in PostgreSQL', () => {
  test('is adopted without changes to its columns and rows', async () => {
    await using database = await createDatabase();
    await database.query(GORM_TABLE);
    await database.query(
      "insert into books (title, author, year) values ('Dune', 'Frank Herbert', 1965), (null, null, null)",
    );
    const before = await describeTable(database);
    {
      await using store = await openStoreAt(database.url);
      assertSameJson(await listBooks(store), [
        { id: 1, title: 'Dune', author: 'Frank Herbert', year: 1965 },
        { id: 2, title: '', author: '', year: 0 },
      ]);
    }
    assert.deepEqual(await describeTable(database), before);
  });

  test('reads NULL as "" and 0 in every call', async () => {
    await using database = await createDatabase();
    await database.query(GORM_TABLE);
    await database.query('insert into books default values');
    await using store = await openStoreAt(database.url);
    const empty = { id: 1, title: '', author: '', year: 0 };

    assertSameJson(await store.find(1), empty);
    assertSameJson(await store.update(1, {}), empty);
    assert.equal(textOf(await store.list()), JSON.stringify(empty));
    assertSameJson(await store.update(1, { title: 'Emma' }), { ...empty, title: 'Emma' });
    assert.deepEqual(await database.query('select * from books'), [
      { id: '1', title: 'Emma', author: null, year: null },
    ]);
    assert.equal(await store.delete(1), true);
  });

  test('can be partitioned, and be searched', async () => {
    await using database = await createDatabase();
    await database.query(`${GORM_TABLE} partition by range (id)`);
    await database.query('create table books_1 partition of books for values from (minvalue) to (2)');
    await database.query('create table books_2 partition of books for values from (2) to (maxvalue)');
    await using store = await openStoreAt(database.url);
    const titles = ['Emma', 'Dune', 'Persuasion'];
    for (const title of titles) await store.create({ title, author: '', year: 0 });
    await store.update(1, { year: 1815 });
    const query = { sort: 'title', isDescending: false, yearFrom: 0, yearTo: 2_000 } as const;
    while ((await searchAll(store, query, 10)).length < titles.length);
    assert.equal(await store.delete(3), true);
    assertSameJson(JSON.parse(`[${textOf(await store.search(query, 10))}]`), [
      { id: 2, title: 'Dune', author: '', year: 0 },
      { id: 1, title: 'Emma', author: '', year: 1815 },
    ]);
  });

  test('can contain ids chosen by clients: new ids are higher than all of them', async () => {
    await using database = await createDatabase();
    await database.query(GORM_TABLE);
    await database.query(
      "insert into books (id, title) values (2, 'two'), (1000, 'thousand'), (-7, 'minus seven')",
    );
    const before = await describeTable(database);
    await using store = await openStoreAt(database.url);

    assert.deepEqual(await describeTable(database), before);
    const books = await Promise.all(
      Array.from({ length: 5 }, () => store.create({ title: '', author: '', year: 0 })),
    );
    assert.deepEqual(
      books.map(({ id }) => id),
      [1001, 1002, 1003, 1004, 1005],
    );
    assert.deepEqual(
      (await listBooks(store)).map(({ id }) => id),
      [-7, 2, 1000, 1001, 1002, 1003, 1004, 1005],
    );
  });

  test('can be written by another service: create assigns no existing id', async () => {
    await using database = await createDatabase();
    await database.query(GORM_TABLE);
    await using store = await openStoreAt(database.url);
    await database.query("insert into books (id, title) values (1, 'one'), (2, 'two'), (5, 'five')");
    const { id } = await store.create({ title: 'new', author: '', year: 0 });

    assert.equal(id, 6);
    assert.deepEqual(
      (await listBooks(store)).map((book) => book.id),
      [1, 2, 5, 6],
    );
  });

  test('does not reuse the ids of deleted books', async () => {
    await using database = await createDatabase();
    await database.query(GORM_TABLE);
    await database.query("insert into books (title) values ('one'), ('two'), ('three')");
    await database.query('delete from books where id > 1');
    await using store = await openStoreAt(database.url);

    assert.equal((await store.create({ title: '', author: '', year: 0 })).id, 4);
  });

  for (const column of ['id', 'year']) {
    for (const value of [`${BigInt(ID_MAX) + 1n}`, `-${BigInt(ID_MAX) + 1n}`, '9223372036854775807']) {
      test(`is rejected with ${column} ${value}, which is not exact as a JSON number`, async () => {
        const database = await sharedDatabase();
        await database.query(`drop table if exists books; ${GORM_TABLE}`);
        await database.query(`insert into books (${column}) values (${value})`);
        const before = await describeTable(database);

        await assertNotReady(database.url, /2\^53/);
        assert.deepEqual(await describeTable(database), before);
      });
    }
  }

  test('is adopted with the largest and smallest years that are exact as JSON numbers', async () => {
    await using database = await createDatabase();
    await database.query(GORM_TABLE);
    await database.query(`insert into books (year) values (${ID_MAX}), (-${ID_MAX})`);
    await using store = await openStoreAt(database.url);

    assert.deepEqual(
      (await listBooks(store)).map(({ year }) => year),
      [ID_MAX, -ID_MAX],
    );
  });
});

describe('A table books that another program created in SQLite', () => {
  test('gets no id that is not exact as a JSON number', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    using other = new DatabaseSync(path);
    other.exec(
      'create table books (id integer primary key autoincrement, title text, author text, year integer)',
    );
    other.exec(`insert into books (id) values (${ID_MAX})`);
    await using store = await openStoreAt(`sqlite:${path}`);

    const rejection = new TableRejection('trigger books_id_exact');
    await assert.rejects(store.create({ title: '', author: '', year: 0 }), rejection);
    await assert.rejects(createMany(store, [{ title: '', author: '', year: 0 }]), TableRejection);
    assert.equal(await store.delete(1), false);
    assert.deepEqual(await listBooks(store), [{ id: ID_MAX, title: '', author: '', year: 0 }]);
  });

  for (const [what, value, title] of [
    ['a BLOB', "x'44756e65'", 'Dune'],
    ['a BLOB that is not UTF-8', "x'44756e65c3'", 'Dune\ufffd'],
    ['a text that is not UTF-8', "cast(x'44756e65c3' as text)", 'Dune\ufffd'],
    ['a number', '1984', '1984'],
  ] as const) {
    test(`reads ${what}, which the program stores while the service runs, as text in every call`, async () => {
      await using folder = await createFolder();
      const path = join(folder.path, 'books.db');
      using other = new DatabaseSync(path);
      other.exec('create table books (id integer primary key autoincrement, title, author, year integer)');
      await using store = await openStoreAt(`sqlite:${path}`);
      const query = { isDescending: false, yearFrom: -YEAR_MAX, yearTo: YEAR_MAX } as const;
      const byTitle = { ...query, sort: 'title' } as const;
      assert.equal((await searchAll(store, byTitle, 10)).length, 0);
      other.exec(`insert into books (title, author) values (${value}, ${value})`);
      const book = { id: 1, title, author: title, year: 0 };
      const utf8 = new TextDecoder('utf-8', { fatal: true });

      assertSameJson(await store.find(1), book);
      assert.equal(utf8.decode((await store.list()).json), JSON.stringify(book));
      for (const searched of [
        byTitle,
        { ...query, sort: 'id', q: title } as const,
        { ...query, sort: 'id' } as const,
      ])
        assert.equal(utf8.decode((await store.search(searched, 10)).json), JSON.stringify(book));
      assertSameJson(await store.update(1, {}), book);
      const updated = await updateMany(store, [{ id: 1, year: 1 }]);
      assert.deepEqual(updated, [{ ...book, year: 1 }]);
    });
  }

  test('changes a book with a BLOB, or deletes it, if it is as it was read', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    using other = new DatabaseSync(path);
    other.exec(
      'create table books (id integer primary key autoincrement, title text, author text, year integer)',
    );
    await using store = await openStoreAt(`sqlite:${path}`);
    other.exec("insert into books (title, author) values (x'44756e65', x'00')");
    const book = { id: 1, title: 'Dune', author: '\0', year: 0 };
    const changed = { ...book, year: 1965 };
    assertSameJson(await store.updateExpected(book, { year: 1965 }), changed);
    assert.equal(await store.deleteExpected(changed), true);
  });
});

describe('A table books with an unsuitable structure', () => {
  const misfits = {
    'a column is missing': ['create table books (id bigserial primary key, title text, author text)', /year/],
    'a text is a number': [
      'create table books (id bigserial primary key, title bigint, author text, year bigint)',
      /title/,
    ],
    'the year is a text': [
      'create table books (id bigserial primary key, title text, author text, year text)',
      /year/,
    ],
    'the id is a text': [
      'create table books (id text primary key, title text, author text, year bigint)',
      /id/,
    ],
    'the id is not generated, and may be NULL': [
      'create table books (id bigint, title text, author text, year bigint)',
      /id/,
    ],
    'the id is not generated': [
      'create table books (id bigint primary key, title text, author text, year bigint)',
      /id/,
    ],
    'another column requires a value': [`${GORM_TABLE.slice(0, -1)}, shelf text not null)`, /shelf/],
  } satisfies Record<string, [string, RegExp]>;

  for (const [misfit, [sql, message]] of Object.entries(misfits)) {
    test(`is rejected on PostgreSQL: ${misfit}`, async () => {
      const database = await sharedDatabase();
      await database.query(`drop table if exists books; ${sql}`);
      const before = await describeTable(database);

      await assertNotReady(database.url, message);
      assert.deepEqual(await describeTable(database), before);
      assert.deepEqual(await database.query(TABLES), [{ tablename: 'books' }]);
    });
  }

  test('is rejected on SQLite, and the file remains unchanged', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    using other = new DatabaseSync(path);
    other.exec('create table books (id integer primary key autoincrement, title text)');
    const before = await readFile(path);

    await assertNotReady(`sqlite:${path}`, /no column author/);
    await assert.rejects(openArchiveAt(`sqlite:${path}`), StoreNotReady);
    assert.deepEqual(await readdir(folder.path), ['books.db']);
    assert.deepEqual(await readFile(path), before);
  });
});

const TABLES = "select tablename from pg_tables where schemaname = 'public'";

/** All properties of a table books that adoption must not change. */
async function describeTable(database: Database): Promise<unknown> {
  const columns = await database.query(
    "select * from information_schema.columns where table_name = 'books' order by ordinal_position",
  );
  const constraints = await database.query(
    "select conname, pg_get_constraintdef(oid) as definition from pg_constraint where conrelid = 'books'::regclass order by conname",
  );
  const rows = await database.query('select xmin::text, * from books order by id');
  return { columns, constraints, rows };
}
