import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createDatabase, type Database } from '../../testkit/postgres.ts';
import { startService } from '../../testkit/service.ts';
import {
  assertSameJson,
  createMany,
  createManyOnce,
  listBooks,
  openStoreAt,
  type SearchableStore,
} from '../../testkit/stores.ts';

/** Some are equal when they are stored, and some as they are sent. */
const SENT = [' Dune', 'Emma ', 'Dune ', ' Dune', 'Emma', 'Dune'].map((title, index) => ({
  title,
  author: `${index}`,
  year: 1,
}));

describe('When a trigger of the table in PostgreSQL changes the texts of new books', () => {
  test('books are stored once, and returned as they are stored', async () => {
    await using scene = await stage(`new.title := trim(new.title); return new`);
    const single = await scene.store.create(SENT[0] as (typeof SENT)[0]);
    assertSameJson(single, { id: single.id, ...stored(0) });
    const several = await Promise.all(SENT.map((fields) => scene.store.create(fields)));
    for (const [index, book] of several.entries()) assertSameJson(book, { id: book.id, ...stored(index) });
    const many = await createMany(scene.store, SENT);
    for (const [index, book] of many.entries()) assertSameJson(book, { id: book.id, ...stored(index) });
    assertSameJson(await listBooks(scene.store), [single, ...several, ...many]);
  });

  test('repeats with an idempotency key have the same texts, also after a change', async () => {
    await using scene = await stage(`new.title := trim(new.title); return new`);
    const create = () => Promise.all(SENT.map((fields, index) => scene.store.createOnce(fields, `${index}`)));
    const createAll = () => createManyOnce(scene.store, 'many', SENT.slice(0, 3), SENT.slice(3));
    const single = await scene.store.createOnce(SENT[1] as (typeof SENT)[1], 'single');
    const [several, many = []] = [await create(), await createAll()];
    for (const [index, book] of several.entries()) assertSameJson(book, { id: book?.id, ...stored(index) });
    for (const [index, book] of many.entries()) assertSameJson(book, { id: book.id, ...stored(index) });
    assertSameJson(await listBooks(scene.store), [single, ...several, ...many]);

    for (const book of [...several, ...many]) await scene.store.update(book?.id ?? 0, { title: 'Emma' });
    assertSameJson(await create(), several);
    assertSameJson(await createAll(), many);
    assertSameJson(await scene.store.createOnce(SENT[1] as (typeof SENT)[1], 'single'), single);
    assert.equal(await scene.store.createOnce(stored(1), 'single'), undefined);
    assert.equal(await createManyOnce(scene.store, 'many', SENT.slice(1)), undefined);
    assert.equal((await listBooks(scene.store)).length, 1 + several.length + many.length);
  });

  test('a book that is not stored takes no key, and no id of another book', async () => {
    await using scene = await stage(`if new.title = 'Emma' then return null; end if; return new`);
    const create = () =>
      Promise.allSettled(SENT.map((fields, index) => scene.store.createOnce(fields, `${index}`)));
    const outcomes = await create();
    const books = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    assert.deepEqual(
      outcomes.map(({ status }) => status === 'fulfilled'),
      SENT.map(({ title }) => title !== 'Emma'),
    );
    assertSameJson((await listBooks(scene.store)).toSorted(byAuthor), books.toSorted(byAuthor));
    assertSameJson(await create(), JSON.parse(JSON.stringify(outcomes)));
  });

  for (const [which, isLeftOut] of [
    ['one of many books', "new.title = 'Emma'"],
    ['all of many books', 'true'],
  ] as const) {
    test(`without ${which}, none is stored, and no key is taken: 400 as for a single one`, async () => {
      await using scene = await stage(`if ${isLeftOut} then return null; end if; return new`);
      await using service = await startService({ dbUrl: scene.database.url });
      const emma = { title: 'Emma', author: 'Jane Austen', year: 1815 };
      const key = { 'idempotency-key': 'many' };
      const attempt = (headers: Readonly<Record<string, string>>) =>
        service.fetch('POST', '/books', JSON.stringify([...SENT, emma]), headers);
      const responses = [
        await service.fetch('POST', '/book', JSON.stringify(emma)),
        await attempt({}),
        await attempt(key),
      ];
      for (const response of responses) {
        assertSameJson(await response.json(), { status: 400, message: 'Invalid input', data: null });
        assert.match(
          response.headers.get('error-detail') ?? '',
          /: a trigger or a constraint that leaves out books$/,
        );
      }
      assert.deepEqual(await listBooks(scene.store), []);
      await scene.database.query('drop trigger change on books');
      for (const headers of [{}, key, key]) assert.equal((await attempt(headers)).status, 201);
      assert.equal((await listBooks(scene.store)).length, 2 * (SENT.length + 1));
    });
  }
});

function byAuthor(a: { author: string } | undefined, b: { author: string } | undefined): number {
  return Number(a?.author) - Number(b?.author);
}

function stored(index: number): (typeof SENT)[0] {
  const { title = '', author = '', year = 0 } = SENT[index] ?? {};
  return { title: title.trim(), author, year };
}

interface Scene extends AsyncDisposable {
  readonly database: Database;
  readonly store: SearchableStore;
}

/** @param body of a function in PL/pgSQL, which is called before each insert of a row */
async function stage(body: string): Promise<Scene> {
  const database = await createDatabase();
  const store = await openStoreAt(database.url);
  await database.query(
    `create function change() returns trigger language plpgsql as $$ begin ${body}; end $$`,
  );
  await database.query('create trigger change before insert on books for each row execute function change()');
  return {
    database,
    store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}
