import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runCommand } from '../../testkit/command.ts';
import { createFolder } from '../../testkit/folder.ts';
import { createDatabase, createUser, type Database } from '../../testkit/postgres.ts';
import { startService } from '../../testkit/service-process.ts';
import { assertNotReady, engineAt, openStoreAt } from '../../testkit/stores.ts';
import { furtherMigration } from './further-migration.ts';

/** The table that GORM creates. */
const GORM_TABLE = 'create table books (id bigserial primary key, title text, author text, year bigint)';
const TABLES = "select tablename from pg_tables where schemaname = 'public'";
const BOOK = { title: 'Titus Groan', author: 'Mervyn Peake', year: 1946 };

describe('A PostgreSQL user without a privilege', () => {
  for (const [lacking, granted] of [
    ['select', 'insert, update, delete'],
    ['insert', 'select, update, delete'],
    ['update', 'select, insert, delete'],
    ['delete', 'select, insert, update'],
  ] as const) {
    test(`is rejected, by check, too, and nothing is created, also before a further migration: without ${lacking}`, async () => {
      await using database = await createDatabase();
      await database.query(GORM_TABLE);
      await using user = await createUser(database);
      await database.query(`grant ${granted} on books to ${user.name}`);
      await assertRejected(user.url, 'permission denied for table books');
      using _ = furtherMigration();
      await assertRejected(user.url, 'permission denied for table books');
      assert.deepEqual(await database.query(TABLES), [{ tablename: 'books' }]);
    });
  }

  test('to create a table is rejected', async () => {
    await using database = await createDatabase();
    await using user = await createUser(database);
    await assertNotReady(user.url, /^migration 1 cannot be applied \(permission denied for schema public\)$/);
  });

  test('to use a schema is rejected', async () => {
    await using database = await createDatabase();
    await using user = await createUser(database);
    await database.query('revoke all on schema public from public');
    await assertNotReady(user.url, /\(no schema has been selected to create in\)$/);
  });

  test('to create tables beside the books is rejected, and is accepted once it is granted', async () => {
    await using database = await createDatabase();
    await using user = await createOwner(database);
    await database.query(`revoke create on schema public from ${user.name}`);
    await assertNotReady(user.url, /\(permission denied for schema public\)$/);
    assert.deepEqual(await database.query(TABLES), [{ tablename: 'books' }]);

    await database.query(`grant create on schema public to ${user.name}`);
    await using store = await openStoreAt(user.url);
    await database.query('insert into books (id) values (1), (20000)');
    const book = await store.createOnce(BOOK, 'key');
    assert.deepEqual(await store.createOnce(BOOK, 'key'), book);
    assert.equal(book?.id, 20_001);
    assert.equal(await store.delete(book.id), true);
  });

  test('to use what another user has created for the service is rejected at a later start', async () => {
    await using database = await createDatabase();
    await using user = await createOwner(database);
    await (await openStoreAt(database.url))[Symbol.asyncDispose]();
    await assertNotReady(user.url, refusal('permission denied for table bookkeeping_migrations'));
  });

  for (const [what, history, change, message] of [
    [
      'to create triggers on the books',
      'off, then on',
      'revoke trigger on books from USER',
      'the history cannot be turned on or off \\(permission denied for table books\\)',
    ],
    [
      'to drop the triggers of the history',
      'on, then off',
      'select 1',
      'the history cannot be turned on or off \\(must be owner of (table|relation) books\\)',
    ],
    [
      'to replace the table of another program',
      'on',
      'drop table book_history; create table book_history (other text)',
      'book_history is not a table of this service',
    ],
  ] as const) {
    test(`${what} is rejected by the start that needs it`, async () => {
      await using database = await createDatabase();
      await using user = await createOwner(database);
      await using folder = await createFolder();
      const [first = '', last = first] = history.split(', then ');
      const secrets = { SECRET_TOKEN: 'k'.repeat(32), AUTH_PASSWORD: 'p'.repeat(8) };
      const variables = { DB_URL: user.url, HISTORY: first, ...secrets };
      {
        await using service = await startService(folder.path, variables);
        await service.stop();
      }
      await database.query(change.replace('USER', user.name));
      const start = await runCommand(['serve'], {
        folder: folder.path,
        variables: { ...variables, HISTORY: last },
      });
      assert.match(start.stderr, new RegExp(`^bookkeeping cannot start: ${message}$`, 'm'));
      assert.equal(start.code, 1);
    });
  }

  test('to read the records of migrations may not export, and is told so', async () => {
    await using database = await createDatabase();
    await (await openStoreAt(database.url))[Symbol.asyncDispose]();
    await using user = await createUser(database);
    const open = async () => (await engineAt(user.url)).openArchiveForReading();
    await assert.rejects(open(), { message: refusal('permission denied for table bookkeeping_migrations') });
    await database.query(`grant select on books, bookkeeping_migrations to ${user.name}`);
    await (await open())[Symbol.asyncDispose]();
  });
});

/** A table of GORM, and a user who may do all that the service needs. */
async function createOwner(database: Database): ReturnType<typeof createUser> {
  await database.query(GORM_TABLE);
  const user = await createUser(database);
  await database.query(`
    grant select, insert, update, delete, trigger on books to ${user.name};
    grant usage, update on sequence books_id_seq to ${user.name};
    grant create on schema public to ${user.name}`);
  return user;
}

/** Asserts that a start and `bookkeeping check` say what PostgreSQL says of a missing right. */
async function assertRejected(dbUrl: string, reason: string): Promise<void> {
  await assertNotReady(dbUrl, refusal(reason));
  await assert.rejects((await engineAt(dbUrl)).inspect(), { message: refusal(reason) });
}

function refusal(reason: string): RegExp {
  return new RegExp(`^the table books cannot be used \\(${reason}\\)$`);
}
