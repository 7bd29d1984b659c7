import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { StoreNotReady } from '../../src/store/errors.ts';
import { createFolder } from '../../testkit/folder.ts';
import { createDatabase } from '../../testkit/postgres.ts';
import {
  assertNotReady,
  assertSameJson,
  createMany,
  engineAt,
  listBooks,
  openArchiveAt,
  openStoreAt,
  searchAll,
  updateMany,
} from '../../testkit/stores.ts';
import { furtherMigration } from './further-migration.ts';

const DUNE = { title: 'Dune', author: 'Frank Herbert', year: 1965 };

/** Statements that other programs make, and the error of the start; undefined if the service uses the table. */
type Tables = Readonly<Record<string, readonly [sql: string, error?: RegExp]>>;

const SQLITE: Tables = {
  'GORM with gorm.Model': [
    'CREATE TABLE `books` (`id` integer PRIMARY KEY AUTOINCREMENT,`created_at` datetime,`updated_at` datetime,`deleted_at` datetime,`title` text,`author` text,`year` integer); CREATE INDEX `idx_books_deleted_at` ON `books`(`deleted_at`)',
  ],
  Sequelize: [
    'CREATE TABLE `Books` (`id` INTEGER PRIMARY KEY AUTOINCREMENT, `title` VARCHAR(255), `author` VARCHAR(255), `year` INTEGER, `createdAt` DATETIME NOT NULL, `updatedAt` DATETIME NOT NULL)',
    /the column createdAt of the table books is NOT NULL and has no default, so no book could be created$/,
  ],
  'Sequelize without timestamps': [
    'CREATE TABLE `Books` (`id` INTEGER PRIMARY KEY AUTOINCREMENT, `title` VARCHAR(255), `author` VARCHAR(255), `year` INTEGER)',
  ],
  'EF Core': [
    'CREATE TABLE "Books" ("Id" INTEGER NOT NULL CONSTRAINT "PK_Books" PRIMARY KEY AUTOINCREMENT, "Title" TEXT NOT NULL, "Author" TEXT NOT NULL, "Year" INTEGER NOT NULL)',
  ],
  Prisma: [
    'CREATE TABLE "books" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "title" TEXT NOT NULL, "author" TEXT NOT NULL, "year" INTEGER NOT NULL, "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP)',
  ],
  Django: [
    'CREATE TABLE "books" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "title" varchar(200) NOT NULL, "author" varchar(200) NOT NULL, "year" integer unsigned NOT NULL CHECK ("year" >= 0))',
  ],
  TypeORM: [
    'CREATE TABLE "books" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "title" varchar NOT NULL, "author" varchar NOT NULL, "year" integer NOT NULL)',
  ],
  Rails: [
    'CREATE TABLE "books" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "title" varchar, "author" varchar, "year" integer, "created_at" datetime(6) NOT NULL, "updated_at" datetime(6) NOT NULL)',
    /column created_at .* NOT NULL/,
  ],
  SQLAlchemy: [
    'CREATE TABLE books (id INTEGER NOT NULL, title VARCHAR, author VARCHAR, year INTEGER, PRIMARY KEY (id))',
    /AUTOINCREMENT, so ids could be reused; stop [^;]+: create table books_new \(/,
  ],
  'a person, with capitals': [
    'create table BOOKS (ID integer primary key autoincrement, TITLE text, Author text, yEAR integer)',
  ],
  'a person, without AUTOINCREMENT': [
    'create table Books (id integer primary key, title text, author text, year integer)',
    /AUTOINCREMENT, so ids could be reused/,
  ],
  'a person, with AUTOINCREMENT in a comment': [
    'create table books (id integer primary key /* autoincrement */, title text, -- autoincrement\n "autoincrement" text, author text default \'autoincrement\', year integer)',
    /AUTOINCREMENT, so ids could be reused/,
  ],
  'a person, with AUTOINCREMENT of another column': [
    'create table books (number integer primary key autoincrement, id integer, title text, author text, year integer)',
    /AUTOINCREMENT, so ids could be reused/,
  ],
  'a person, as a STRICT table': [
    'create table books (id integer primary key autoincrement, title text, author text, year integer) strict',
  ],
  'a person, as a STRICT table without AUTOINCREMENT': [
    'create table books (id integer primary key, title text, author text, year integer) strict',
    /AUTOINCREMENT, so ids could be reused/,
  ],
  'a person, as a STRICT table without a year': [
    'create table Books (id integer primary key autoincrement, title text, author text) strict',
    /no column year/,
  ],
  'a person, as a table WITHOUT ROWID': [
    'create table books (id integer primary key, title text, author text, year integer) without rowid',
    /AUTOINCREMENT, so ids could be reused/,
  ],
  'a person, as a view': [
    'create table all_books (id integer primary key autoincrement, title text, author text, year integer); create view Books as select * from all_books',
    /^books is not a table, but a view$/,
  ],
  'a person, as a virtual table': [
    'create virtual table Books using fts5 (title, author, year)',
    /^books is not a table, but a virtual table$/,
  ],
  'a person, as an index': [
    'create table other (id integer); create index Books on other (id)',
    /^books is not a table, but a index$/,
  ],
  'a person, with an id that is a text': [
    'create table books (id text primary key, title text, author text, year integer)',
    /the column id of the table books has the type text, not INTEGER/i,
  ],
  'a person, with a title that is a number': [
    'create table books (id integer primary key autoincrement, title string, author text, year integer)',
    /the column title .* has the type string/i,
  ],
  'a person, with a year that is a text': [
    'create table books (id integer primary key autoincrement, title text, author text, year text)',
    /the column year .* has the type text/i,
  ],
  'a person, with a generated title': [
    "create table books (id integer primary key autoincrement, Title text generated always as ('x' || id) stored, author text, year integer)",
    /the column title of the table books is generated/,
  ],
  'a person, with a trigger on a table that is missing': [
    'create table books (id integer primary key autoincrement, title text, author text, year integer); create trigger note after delete on books begin delete from loans; end',
    /^the table books cannot be changed: no such table: main\.loans$/,
  ],
  'a person, with a UNIQUE that replaces': [
    'create table books (id integer primary key autoincrement, title text unique on conflict replace, author text, year integer)',
    /^the table books has ON CONFLICT REPLACE, with which a new book would delete another one/,
  ],
  'a person, with a NOT NULL and a key that replace': [
    "create table books (id integer primary key on conflict replace autoincrement, title text not null on conflict replace default '', author text, year integer)",
  ],
  'a person, with a generated column': [
    "create table books (id integer primary key autoincrement, title text, author text, year integer, whole text not null generated always as (title || '') virtual)",
  ],
};

const POSTGRES: Tables = {
  'GORM with gorm.Model': [
    'CREATE TABLE "books" ("id" bigserial,"created_at" timestamptz,"updated_at" timestamptz,"deleted_at" timestamptz,"title" text,"author" text,"year" bigint,PRIMARY KEY ("id"))',
  ],
  Sequelize: [
    'CREATE TABLE "Books" ("id" SERIAL, "title" VARCHAR(255), "author" VARCHAR(255), "year" INTEGER, "createdAt" TIMESTAMP WITH TIME ZONE NOT NULL, PRIMARY KEY ("id"))',
    /^there is no table books, but "Books", which is another one in PostgreSQL; to use it: alter table "Books" rename to books;$/,
  ],
  'Sequelize, after it is renamed': [
    'CREATE TABLE books ("id" SERIAL, "title" VARCHAR(255), "author" VARCHAR(255), "year" INTEGER, "createdAt" TIMESTAMP WITH TIME ZONE NOT NULL, PRIMARY KEY ("id"))',
    /the column "createdAt" of the table books is NOT NULL and has no default, so no book could be created$/,
  ],
  'Sequelize without timestamps, after it is renamed': [
    'CREATE TABLE books ("id" SERIAL, "title" VARCHAR(255), "author" VARCHAR(255), "year" INTEGER, PRIMARY KEY ("id"))',
  ],
  'EF Core': [
    'CREATE TABLE "Books" ("Id" integer GENERATED BY DEFAULT AS IDENTITY, "Title" text NOT NULL, "Author" text NOT NULL, "Year" integer NOT NULL, CONSTRAINT "PK_Books" PRIMARY KEY ("Id"))',
    /alter table "Books" rename to books;$/,
  ],
  'EF Core, after it is renamed': [
    'CREATE TABLE books ("Id" integer GENERATED BY DEFAULT AS IDENTITY, "Title" text NOT NULL, "Author" text NOT NULL, "Year" integer NOT NULL, CONSTRAINT "PK_Books" PRIMARY KEY ("Id"))',
    /^the table books has no column id, but "Id", which is another one in PostgreSQL; to use it: alter table books rename column "Id" to id;$/,
  ],
  'EF Core with names in lower case': [
    'CREATE TABLE books (id integer GENERATED BY DEFAULT AS IDENTITY, title text NOT NULL, author text NOT NULL, year integer NOT NULL, CONSTRAINT "PK_books" PRIMARY KEY (id))',
  ],
  Prisma: [
    'CREATE TABLE "books" ("id" SERIAL NOT NULL, "title" TEXT NOT NULL, "author" TEXT NOT NULL, "year" INTEGER NOT NULL, "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, "updatedAt" TIMESTAMP(3) NOT NULL, CONSTRAINT "books_pkey" PRIMARY KEY ("id"))',
    /the column "updatedAt" of the table books is NOT NULL/,
  ],
  Django: [
    'CREATE TABLE "books" ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "title" varchar(200) NOT NULL, "author" varchar(200) NOT NULL, "year" integer NOT NULL CHECK ("year" >= 0))',
  ],
  TypeORM: [
    'CREATE TABLE "books" ("id" SERIAL NOT NULL, "title" character varying NOT NULL, "author" character varying NOT NULL, "year" integer NOT NULL, CONSTRAINT "PK_f3f2f25a099d24e12545b70b022" PRIMARY KEY ("id"))',
  ],
  Rails: [
    'CREATE TABLE "books" ("id" bigserial primary key, "title" character varying, "author" character varying, "year" integer, "created_at" timestamp(6) NOT NULL, "updated_at" timestamp(6) NOT NULL)',
    /column created_at .* NOT NULL/,
  ],
  'Rails, with a trigger that sets the times': [
    `CREATE TABLE "books" ("id" bigserial primary key, "title" character varying, "author" character varying, "year" integer, "created_at" timestamp(6) NOT NULL);
     create function stamp() returns trigger language plpgsql as $$ begin new.created_at := now(); return new; end $$;
     create trigger stamp before insert on books for each row execute function stamp()`,
  ],
  SQLAlchemy: [
    'CREATE TABLE books (id SERIAL NOT NULL, title VARCHAR, author VARCHAR, year INTEGER, PRIMARY KEY (id))',
  ],
  'a person, with domains': [
    `create domain name_of as varchar(100) not null check (value <> 'x'); create domain year_of as smallint;
     create table books (id bigint generated always as identity primary key, title name_of, author name_of, year year_of)`,
  ],
  'a person, with a domain of another column that is NOT NULL': [
    `create domain shelf_of as text not null;
     create table books (id bigserial primary key, title text, author text, year bigint, shelf shelf_of)`,
    /the column shelf of the table books is NOT NULL/,
  ],
  'a person, without a key': [
    'create table books (id bigserial, title text, author text, year bigint)',
    /the ids of the table books are not unique; to make them so: alter table books add unique \(id\);$/,
  ],
  'a person, with a sequence': [
    `create sequence "Ids"; create table books (id bigint primary key default nextval('"Ids"'), title text, author text, year bigint)`,
    /does not own its sequence, so ids could be given out twice; to cure it: alter sequence "Ids" owned by books\.id;$/,
  ],
  'a person, with a sequence that the column owns': [
    `create sequence "Ids"; create table books (id bigint primary key default nextval('"Ids"'), title text, author text, year bigint);
     alter sequence "Ids" owned by books.id`,
  ],
  'a person, as a view': [
    'create table all_books (id bigserial primary key, title text, author text, year bigint); create view books as select * from all_books',
    /^books is not a table, but a view$/,
  ],
  'a person, with a generated title': [
    "create table books (id bigserial primary key, title text generated always as ('x') stored, author text, year bigint)",
    /the column title of the table books is generated/,
  ],
  'a person, with a rule for soft deletion': [
    `create table books (id bigserial primary key, title text, author text, year bigint, deleted_at timestamptz);
     create rule softly as on delete to books do instead update books set deleted_at = now() where id = old.id`,
    /^the table books has the rule softly, with which PostgreSQL does not run all statements .* use a trigger instead$/,
  ],
  'a person, with a rule that is disabled': [
    `create table books (id bigserial primary key, title text, author text, year bigint);
     create rule none as on delete to books do instead nothing; alter table books disable rule none`,
  ],
  'a person, with char(n)': [
    'create table books (id bigserial primary key, title char(100), author text, year bigint)',
    /the column title of the table books is character\(100\), not text/,
  ],
};

describe('A table in SQLite', () => {
  for (const [program, [sql, error]] of Object.entries(SQLITE))
    test(`of ${program} ${error ? 'ends start, check, import and export, also before a further migration' : 'is used'}`, async () => {
      await using folder = await createFolder();
      const path = join(folder.path, 'books.db');
      {
        using database = new DatabaseSync(path);
        database.exec(sql);
      }
      if (!error) return await assertUsable(`sqlite:${path}`);
      await assertMisfit(`sqlite:${path}`, error);
      const other = await engineAt(`sqlite:${join(folder.path, 'other.db')}`);
      await assert.rejects(
        other.restore(path, () => {}),
        /is not a backup of a store/,
      );
      using _ = furtherMigration();
      await assertMisfit(`sqlite:${path}`, error);
    });

  test('with a CHECK whose function SQLite does not have ends the start and the import', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    using database = new DatabaseSync(path);
    database.function('regexp', { varargs: true }, () => 1);
    database.exec(
      "create table books (id integer primary key autoincrement, title text check (title regexp 'x'), author text, year integer)",
    );
    const reason = /the table books cannot be changed: [^\n]*regexp/;
    await assertNotReady(`sqlite:${path}`, reason);
    await assert.rejects(openArchiveAt(`sqlite:${path}`), reason);
  });

  test('without AUTOINCREMENT is used after the statements of the error, with its rows and other columns', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    using database = new DatabaseSync(path);
    database.exec(`
      create table Books (Id INTEGER PRIMARY KEY, title text not null, author text, year integer, "a shelf" text default 'A',
        created_at datetime not null default current_timestamp, shelf_length integer generated always as (length("a shelf")));
      insert into Books (id, title, "a shelf") values (7, 'Emma', 'B');
    `);
    const message = await messageOf(`sqlite:${path}`);
    database.exec(message.slice(message.indexOf('create table')));
    await using store = await openStoreAt(`sqlite:${path}`);
    await store.create(DUNE);
    await store.delete(8);
    assert.equal((await store.create(DUNE)).id, 9);
    assert.deepEqual(
      database
        .prepare('select id, title, "a shelf" as shelf from books order by id')
        .all()
        .map((row) => ({ ...row })),
      [
        { Id: 7, title: 'Emma', shelf: 'B' },
        { Id: 9, title: 'Dune', shelf: 'A' },
      ],
    );
  });

  test('of another case has one list with the service, and gives out no id twice', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    using database = new DatabaseSync(path);
    database.exec(
      'create table "BOOKS" (ID integer primary key autoincrement, Title text, AUTHOR text, Year integer, Deleted_At datetime)',
    );
    database.exec(
      "insert into books (title, year, deleted_at) values ('Emma', 1815, null), ('Dune', 1965, 'now')",
    );
    const engine = await engineAt(`sqlite:${path}`);
    assert.match(await engine.inspect(), /has 2 books; Deleted_At marks 1 book as deleted/);
    await using store = await openStoreAt(`sqlite:${path}`);
    assert.equal(await store.delete(2), true);
    assert.equal((await store.create(DUNE)).id, 3);
    database.exec("insert into books (title, year) values ('Ulysses', x'00')");
    assert.equal((await listBooks(store)).length, 3);
    await assertMisfit(`sqlite:${path}`, /invalid row/);
    const backup = join(folder.path, 'backup.db');
    await engine.backUp(backup, () => {});
    const other = await engineAt(`sqlite:${join(folder.path, 'other.db')}`);
    await assert.rejects(
      other.restore(backup, () => {}),
      /is not a backup of a store: .* invalid row/,
    );
  });
});

describe('A table in PostgreSQL', () => {
  for (const [program, [sql, error]] of Object.entries(POSTGRES))
    test(`of ${program} ${error ? 'ends start, check, import and export, also before a further migration' : 'is used'}`, async () => {
      await using database = await createDatabase();
      await database.query(sql);
      if (error) await assertMisfit(database.url, error);
      else await assertUsable(database.url);
    });

  test('"Books" beside books is another one', async () => {
    await using database = await createDatabase();
    await database.query(
      'create table "Books" ("Id" serial primary key); create table books (id bigserial primary key, title text, author text, year bigint)',
    );
    await assertUsable(database.url);
  });

  test('in another schema is named by check, and used with schema, as Prisma calls it, or search_path, as Go does', async () => {
    await using database = await createDatabase();
    await database.query(`
      create schema "my App";
      create table "my App".books (id bigserial primary key, title text, author text, year bigint);
      insert into "my App".books (title) values ('Emma')`);
    assert.match(
      await inspect(database.url),
      /no table books yet; it will be created; there is one in the schema "my App"/,
    );
    for (const parameter of [
      'schema=my%20App',
      'search_path=%22my%20App%22',
      'options=-csearch_path%3D%22my%5C%20App%22',
    ]) {
      assert.match(await inspect(`${database.url}&${parameter}`), /has 1 book$/);
    }
    await assertUsable(`${database.url}&schema=my%20App`, 1);
    assert.deepEqual(await database.query("select 1 from pg_tables where schemaname = 'public'"), []);
  });
});

async function inspect(dbUrl: string): Promise<string> {
  return (await engineAt(dbUrl)).inspect();
}

async function assertUsable(dbUrl: string, books = 0): Promise<void> {
  const engine = await engineAt(dbUrl);
  assert.match(await engine.inspect(), new RegExp(` ${books} books?$`));
  await using store = await openStoreAt(dbUrl);
  const created = await store.create(DUNE);
  assertSameJson(created, { id: created.id, ...DUNE });
  const others = await Promise.all([
    store.create(DUNE),
    store.createOnce(DUNE, 'key'),
    store.create({ title: '', author: '', year: 0 }),
  ]);
  assertSameJson(
    await createMany(store, [DUNE, DUNE]),
    [4, 5].map((more) => ({ id: created.id + more, ...DUNE })),
  );
  assertSameJson(await store.update(created.id, { year: 1966 }), { ...created, year: 1966 });
  assertSameJson(await updateMany(store, [{ id: created.id, year: 1965 }]), [created]);
  assert.equal(await store.deleteExpected(created), true);
  assertSameJson(await store.find(others[0].id), others[0]);
  const query = { sort: 'title', isDescending: false, yearFrom: 1, yearTo: 2_000, q: 'dune' } as const;
  assert.equal((await searchAll(store, query, 10)).length, 4);
  {
    await using archive = await openArchiveAt(dbUrl);
    await archive.add([DUNE]);
    assert.deepEqual(
      await archive.addWithIds([
        { id: 1_000, ...DUNE },
        { id: created.id, ...DUNE },
      ]),
      ['stored', 'stored'],
    );
  }
  assert.equal((await store.create(DUNE)).id, 1_001);
  await using reading = await engine.openArchiveForReading();
  const pages = await Array.fromAsync(reading.pages());
  assert.equal(JSON.parse(`[${Buffer.concat(pages).toString()}]`).length, books + 9);
}

/** Asserts that the start, the check, the import and the export end with the same error. */
async function assertMisfit(dbUrl: string, error: RegExp): Promise<void> {
  const engine = await engineAt(dbUrl);
  await assertNotReady(dbUrl, error);
  const isExpected = (reason: unknown) => {
    assert.ok(reason instanceof StoreNotReady);
    assert.match(reason.message, error);
    return true;
  };
  await assert.rejects(engine.inspect(), isExpected);
  await assert.rejects(engine.openArchive(), isExpected);
  await assert.rejects(engine.openArchiveForReading(), isExpected);
}

async function messageOf(dbUrl: string): Promise<string> {
  const reason = await openStoreAt(dbUrl).then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(reason instanceof StoreNotReady);
  return reason.message;
}
