import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runCommand } from '../../testkit/command.ts';
import { createFolder } from '../../testkit/folder.ts';
import { NO_VERIFICATION } from '../../testkit/no-observer.ts';
import { createDatabase, createUser, type Database } from '../../testkit/postgres.ts';
import { signIn, startService } from '../../testkit/service-process.ts';
import { assertNotReady, engineAt, openStoreAt } from '../../testkit/stores.ts';

/** The table that GORM creates. */
const GORM_TABLE = 'create table books (id bigserial primary key, title text, author text, year bigint)';
const TABLES = "select tablename from pg_tables where schemaname = 'public'";
const BOOK = { title: 'Titus Groan', author: 'Mervyn Peake', year: 1946 };

describe('A PostgreSQL user without a privilege', () => {
  for (const [lacking, granted] of [
    ['select, insert, update, delete', undefined],
    ['insert, update, delete', 'select'],
    ['update, delete', 'select, insert'],
  ] as const) {
    test(`is rejected, and nothing is created: without ${lacking}`, async () => {
      await using database = await createDatabase();
      await database.query(GORM_TABLE);
      await using user = await createUser(database);
      if (granted) await database.query(`grant ${granted} on books to ${user.name}`);
      await assertNotReady(user.url, new RegExp(`this user may not ${lacking} in the table books`));
      assert.deepEqual(await database.query(TABLES), [{ tablename: 'books' }]);
    });
  }

  test('to create a table is rejected', async () => {
    await using database = await createDatabase();
    await using user = await createUser(database);
    await assertNotReady(user.url, /^there is no table books, and this user may not create one$/);
    await assert.rejects((await engineAt(user.url)).inspect(NO_VERIFICATION), /may not create one$/);
  });

  test('to use a schema is rejected', async () => {
    await using database = await createDatabase();
    await using user = await createUser(database);
    await database.query('revoke all on schema public from public');
    await assertNotReady(user.url, /^the search_path names no schema that this user may use/);
    await assert.rejects(
      (await engineAt(user.url)).inspect(NO_VERIFICATION),
      /^StoreNotReady: the search_path names/,
    );
  });

  test('on the whole table is rejected with privileges on its columns', async () => {
    await using database = await createDatabase();
    await using user = await createOwner(database);
    await database.query(`
      revoke insert, update on books from ${user.name};
      grant insert (title, author, year), update (title, author, year) on books to ${user.name}`);
    await assertRejected(user.url, 'insert, update in the table books');
  });

  for (const [right, grant] of [
    ['create triggers on the table books', 'grant trigger on books to'],
    ['use the sequence of the ids of the table books', 'grant usage on sequence books_id_seq to'],
    ['set the sequence of the ids of the table books', 'grant update on sequence books_id_seq to'],
    ['create tables in the schema public', 'grant create on schema public to'],
  ] as const) {
    const revoke = grant.replace('grant', 'revoke').replace(' to', ' from');

    test(`to ${right} is rejected, by check, too, and is accepted once it is granted`, async () => {
      await using database = await createDatabase();
      await using user = await createOwner(database);
      await database.query(`${revoke} ${user.name}`);
      await assertRejected(user.url, right);
      assert.deepEqual(await database.query(TABLES), [{ tablename: 'books' }]);

      await database.query(`${grant} ${user.name}`);
      await using store = await openStoreAt(user.url);
      await database.query('insert into books (id) values (1), (20000)');
      const book = await store.createOnce(BOOK, 'key');
      assert.deepEqual(await store.createOnce(BOOK, 'key'), book);
      assert.equal(book?.id, 20_001);
      assert.equal(await store.delete(book.id), true);
    });

    test(`to ${right} is rejected at a later start, too`, async () => {
      await using database = await createDatabase();
      await using user = await createOwner(database);
      await (await openStoreAt(user.url))[Symbol.asyncDispose]();
      await database.query(`${revoke} ${user.name}`);
      await assertRejected(user.url, right);
    });
  }

  test('gets all that are missing in one line', async () => {
    await using database = await createDatabase();
    await using user = await createOwner(database);
    await (await openStoreAt(user.url))[Symbol.asyncDispose]();
    await database.query(`
      revoke all on books from ${user.name};
      revoke all on sequence books_id_seq from ${user.name};
      revoke create on schema public from ${user.name};
      alter table idempotency_keys owner to current_user;
      alter table bookkeeping_migrations owner to current_user`);
    await assertRejected(
      user.url,
      'select, insert, update, delete in the table books; create triggers on the table books; ' +
        'use the sequence of the ids of the table books; set the sequence of the ids of the table books; ' +
        'create tables in the schema public; alter the table bookkeeping_migrations; alter the table idempotency_keys',
    );
  });

  for (const [what, history, change, message] of [
    [
      'to alter the search index',
      'off',
      'alter table book_search owner to current_user',
      'this user may not alter the table book_search',
    ],
    [
      'to replace the function of the search index',
      'off',
      'alter function note_book_changes owner to current_user',
      'this user may not replace the function note_book_changes',
    ],
    [
      'to alter the log of changes',
      'on',
      'alter table book_history_changes owner to current_user',
      'this user may not alter the table book_history_changes',
    ],
    [
      'to drop the triggers of the history',
      'on, then off',
      'select 1',
      'only the owner of the table books may drop its triggers, which turning the history off needs',
    ],
    [
      'to replace the table of another program',
      'on',
      'drop table book_history; create table book_history (other text)',
      'book_history is not a table of this service',
    ],
  ] as const) {
    test(`${what} is rejected by a start, and by bookkeeping check with the same line`, async () => {
      await using database = await createDatabase();
      await using user = await createOwner(database);
      await using folder = await createFolder();
      const [first = '', last = first] = history.split(', then ');
      const secrets = { SECRET_TOKEN: 'k'.repeat(32), AUTH_PASSWORD: 'p'.repeat(8) };
      const variables = { DB_URL: user.url, HISTORY: first, ...secrets };
      {
        await using service = await startService(folder.path, variables);
        const { data } = await signIn(service, 'admin', variables.AUTH_PASSWORD);
        const headers = { authorization: (data as { readonly token: string }).token };
        assert.equal((await fetch(`${service.url}/books?q=iliad`, { headers })).status, 200);
        await service.stop();
      }
      assert.equal((await runCommand(['check'], { folder: folder.path, variables })).code, 0);
      await database.query(change);
      const run = (command: string) =>
        runCommand([command], { folder: folder.path, variables: { ...variables, HISTORY: last } });
      const { code, stdout } = await run('check');
      assert.match(stdout, new RegExp(`^store: ${message}$`, 'm'));
      assert.equal(code, 1);
      const start = await run('serve');
      assert.match(start.stderr, new RegExp(`^bookkeeping cannot start: ${message}$`, 'm'));
      assert.equal(start.code, 1);
    });
  }

  test('to read the records of migrations may not export, and is told so', async () => {
    await using database = await createDatabase();
    await (await openStoreAt(database.url))[Symbol.asyncDispose]();
    await using user = await createUser(database);
    const open = async () => (await engineAt(user.url)).openArchiveForReading();
    await assert.rejects(open(), {
      message: 'this user may not select in the table bookkeeping_migrations; select in the table books',
    });
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

/** Asserts that a start and `bookkeeping check` name the rights that are missing, and no other. */
async function assertRejected(dbUrl: string, rights: string): Promise<void> {
  const message = new RegExp(`^this user may not ${rights}$`);
  await assertNotReady(dbUrl, message);
  await assert.rejects((await engineAt(dbUrl)).inspect(NO_VERIFICATION), { message });
}
