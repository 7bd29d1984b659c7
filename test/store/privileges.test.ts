import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createDatabase, createUser } from '../../testkit/postgres.ts';
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
    await assert.rejects((await engineAt(user.url)).inspect(), /may not create one$/);
  });

  test('to use a schema is rejected', async () => {
    await using database = await createDatabase();
    await using user = await createUser(database);
    await database.query('revoke all on schema public from public');
    await assertNotReady(user.url, /^the search_path names no schema that this user may use/);
    await assert.rejects((await engineAt(user.url)).inspect(), /^StoreNotReady: the search_path names/);
  });

  test('on the whole table is accepted with privileges on its columns', async () => {
    await using database = await createDatabase();
    await database.query(GORM_TABLE);
    await using user = await createUser(database);
    await database.query(`
      grant select, insert (title, author, year), update (title, author, year), delete, trigger on books to ${user.name};
      grant update on sequence books_id_seq to ${user.name};
      grant create on schema public to ${user.name}`);
    await using store = await openStoreAt(user.url);
    const book = await store.create({ title: '', author: '', year: 0 });
    assert.deepEqual(await store.update(book.id, { year: 1 }), { ...book, year: 1 });
    assert.equal(await store.delete(book.id), true);
  });

  for (const [right, grant] of [
    ['create triggers on the table books', 'grant trigger on books to'],
    ['set the sequence of the ids of the table books', 'grant update on sequence books_id_seq to'],
    ['create tables in the schema public', 'grant create on schema public to'],
  ] as const) {
    test(`to ${right} is rejected, by check, too, and is accepted once it is granted`, async () => {
      await using database = await createDatabase();
      await database.query(GORM_TABLE);
      await using user = await createUser(database);
      await database.query(`
        grant select, insert, update, delete, trigger on books to ${user.name};
        grant usage, update on sequence books_id_seq to ${user.name};
        grant create on schema public to ${user.name};
        ${grant.replace('grant', 'revoke').replace(' to', ' from')} ${user.name}`);
      const message = new RegExp(`^this user may not ${right}$`);
      await assertNotReady(user.url, message);
      await assert.rejects((await engineAt(user.url)).inspect(), { message });
      assert.deepEqual(await database.query(TABLES), [{ tablename: 'books' }]);

      await database.query(`${grant} ${user.name}`);
      await using store = await openStoreAt(user.url);
      await database.query('insert into books (id) values (1), (20000)');
      const book = await store.createOnce(BOOK, 'key');
      assert.deepEqual(await store.createOnce(BOOK, 'key'), book);
      assert.equal(book?.id, 20_001);
      assert.equal(await store.delete(book.id), true);
    });
  }
});
