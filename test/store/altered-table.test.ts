import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDatabase } from '../../testkit/postgres.ts';
import { assertSameJson, listBooks, openStoreAt } from '../../testkit/stores.ts';

test('After an ALTER TABLE in PostgreSQL, an open store reads and writes as before', async () => {
  await using database = await createDatabase();
  await using store = await openStoreAt(database.url);
  const fields = { title: 'Gormenghast', author: 'Mervyn Peake', year: 1950 };
  const book = await store.create(fields);
  await store.find(book.id);
  await store.update(book.id, {});
  await store.delete(book.id + 1);
  await listBooks(store);

  // The server rejects statements that were prepared with the previous column types.
  await database.query('alter table books alter title type varchar, alter year type integer');
  assertSameJson(await store.find(book.id), book);
  assertSameJson(await store.update(book.id, { year: 1951 }), { ...book, year: 1951 });
  assertSameJson(await store.create(fields), { ...book, id: book.id + 1 });
  assert.equal(await store.delete(book.id + 1), true);
  assertSameJson(await listBooks(store), [{ ...book, year: 1951 }]);
});
