import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Book, BookFields } from '../../src/book/contract.ts';
import { engines } from '../../testkit/engines.ts';
import { query } from '../../testkit/sql.ts';
import { assertSameJson, createManyOnce, listBooks, openStoreAt } from '../../testkit/stores.ts';

const DUNE: BookFields = { title: 'Dune', author: 'Frank Herbert', year: 1965 };
const EMMA: BookFields = { title: 'Emma', author: 'Jane Austen', year: 1815 };
const CALLERS = 32;
const ROUNDS = 5;

for (const engine of engines) {
  describe(`createOnce on ${engine.name}`, () => {
    test('returns the first book again, also after it was changed or deleted, and after a restart', async () => {
      await using address = await engine.createAddress();
      let first: Book | undefined;
      {
        await using store = await openStoreAt(address.dbUrl);
        first = await store.createOnce(DUNE, 'one');
        assert.ok(first);
        assertSameJson(first, { id: first.id, ...DUNE });
        assertSameJson(await store.createOnce({ ...DUNE }, 'one'), first);
        await store.update(first.id, EMMA);
        assertSameJson(await store.createOnce(DUNE, 'one'), first);
        await store.delete(first.id);
      }
      await using store = await openStoreAt(address.dbUrl);
      assertSameJson(await store.createOnce(DUNE, 'one'), first);
      assertSameJson(await listBooks(store), []);
    });

    test('a repeat takes no id, and no statement of it fails', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const book = await store.createOnce(DUNE, 'one');
      const many = await createManyOnce(store, 'many', [DUNE, EMMA]);
      await store.createOnce(EMMA, 'old');
      const ids = Array.from({ length: 5 }, (_, index) => `key ${index}`);
      const several = await Promise.all(ids.map((key) => store.createOnce(DUNE, key)));
      await makeOlder(address.dbUrl, 'old', 24 * 3_600 + 1);
      const { id: last } = await store.create(EMMA);

      const failures = await failedStatements(async () => {
        assertSameJson(await store.createOnce(DUNE, 'one'), book);
        assert.equal(await store.createOnce(EMMA, 'one'), undefined);
        assertSameJson(await createManyOnce(store, 'many', [DUNE, EMMA]), many);
        assert.equal(await createManyOnce(store, 'many', [DUNE]), undefined);
        assertSameJson(await Promise.all(ids.map((key) => store.createOnce(DUNE, key))), several);
        assert.equal((await store.createOnce(EMMA, 'old'))?.id, last + 1);
        // Some of a batch are known, and others are not.
        const keys = ['one', 'new', 'key 0', 'newer'];
        const mixed = await Promise.all(keys.map((key) => store.createOnce(DUNE, key)));
        assertSameJson([mixed[0], mixed[2]], [book, several[0]]);
        for (const added of [mixed[1], mixed[3]]) assert.ok((added?.id ?? 0) > last + 1);
      });
      assert.deepEqual(failures, []);
    });

    test('rejects other fields for a known key, and creates nothing', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const book = await store.createOnce(DUNE, 'key');
      for (const fields of [EMMA, { ...DUNE, title: '' }, { ...DUNE, author: 'F. H.' }, { ...DUNE, year: 0 }])
        assert.equal(await store.createOnce(fields, 'key'), undefined);
      assert.equal(
        await store.createOnce({ title: 'DuneF', author: 'rank Herbert', year: 1965 }, 'key'),
        undefined,
      );
      assertSameJson(await listBooks(store), [book]);
    });

    test('creates equal books for different keys, concurrently', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const keys = Array.from({ length: 60 }, (_, index) => `key ${index}`);
      const books = await Promise.all(keys.map((key, index) => store.createOnce(fieldsOf(index), key)));

      assert.equal(new Set(books.map((book) => book?.id)).size, keys.length);
      const byId = new Map((await listBooks(store)).map((book) => [book.id, book]));
      for (const [index, book] of books.entries()) {
        assertSameJson(book, { id: book?.id, ...fieldsOf(index) });
        assertSameJson(byId.get(book?.id ?? 0), book);
      }
      const again = await Promise.all(keys.map((key, index) => store.createOnce(fieldsOf(index), key)));
      assertSameJson(again, books);
      assert.equal((await listBooks(store)).length, keys.length);
    });

    test('creates one book for concurrent calls with one key, also from two stores', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      await using neighbour = await openStoreAt(address.dbUrl);
      for (let round = 0; round < ROUNDS; round++) {
        const books = await Promise.all(
          Array.from({ length: CALLERS }, (_, caller) =>
            (caller % 2 === 0 ? store : neighbour).createOnce(DUNE, `round ${round}`),
          ),
        );
        assert.equal(new Set(books.map((book) => book?.id)).size, 1);
        assert.ok(books[0]);
      }
      assert.equal((await listBooks(store)).length, ROUNDS);
    });

    test('accepts several keys in any order from several stores', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      await using neighbour = await openStoreAt(address.dbUrl);
      const keys = Array.from({ length: CALLERS }, (_, index) => `key ${index}`);
      const callers = [keys, keys.toReversed()].map((order, index) =>
        Promise.all(order.map((key) => (index === 0 ? store : neighbour).createOnce(DUNE, key))),
      );
      const [forward = [], backward = []] = await Promise.all(callers);
      assertSameJson(forward, backward.toReversed());
      assert.equal((await listBooks(store)).length, CALLERS);
    });

    test('a key expires after 24 hours, and not before', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const [young, old] = [await store.createOnce(DUNE, 'young'), await store.createOnce(DUNE, 'old')];
      await makeOlder(address.dbUrl, 'young', 24 * 3_600 - 60);
      await makeOlder(address.dbUrl, 'old', 24 * 3_600 + 1);

      assertSameJson(await store.createOnce(DUNE, 'young'), young);
      const renewed = await store.createOnce(EMMA, 'old');
      assert.ok(renewed && renewed.id !== old?.id);
      assertSameJson(await store.createOnce(EMMA, 'old'), renewed);
      assert.equal(await store.createOnce(DUNE, 'old'), undefined);
      assert.equal((await listBooks(store)).length, 3);
    });

    test('deletes expired keys', async () => {
      await using address = await engine.createAddress();
      {
        await using store = await openStoreAt(address.dbUrl);
        for (const key of ['young', 'old', 'older']) await store.createOnce(DUNE, key);
      }
      await makeOlder(address.dbUrl, 'old', 24 * 3_600 + 1);
      await makeOlder(address.dbUrl, 'older', 240 * 3_600);
      await using store = await openStoreAt(address.dbUrl);
      await store.createOnce(DUNE, 'young');
      while ((await keysIn(address.dbUrl)).length > 1) await sleep(20);
      assert.deepEqual(await keysIn(address.dbUrl), ['young']);
    });

    test('deletes expired keys with many books', async () => {
      await using address = await engine.createAddress();
      const long = Array.from({ length: 200 }, () => ({ ...DUNE, title: 'x'.repeat(50_000) }));
      {
        await using store = await openStoreAt(address.dbUrl);
        for (const key of ['young', 'old', 'older', 'oldest']) await createManyOnce(store, key, long);
      }
      for (const key of ['old', 'older', 'oldest']) await makeOlder(address.dbUrl, key, 24 * 3_600 + 1);
      await using store = await openStoreAt(address.dbUrl);
      while ((await keysIn(address.dbUrl)).length > 1) {
        await createManyOnce(store, 'young', long);
        await sleep(20);
      }
      assert.deepEqual(await keysIn(address.dbUrl), ['young']);
    });

    test('keeps 10,000 books of 16 MiB, and returns them byte for byte, also to another request of a batch', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const texts = ['x', 'é', '\u2028', '\u0001', '"', '😀'];
      const arrays = Array.from({ length: 20 }, (_array, part) =>
        Buffer.from(
          JSON.stringify(
            Array.from({ length: 500 }, (_book, index) => ({
              title: (texts[index % texts.length] ?? '').repeat(250),
              author: `${part} `.repeat(200),
              year: -index,
            })),
          ),
        ),
      );
      const create = async (key: string) => jsonOf((await store.createMany(arrays, key)) ?? []);
      const first = await create('many');
      const ids = (JSON.parse(`[${first}]`) as Book[]).map(({ id }) => id);
      assert.equal(new Set(ids).size, 10_000);
      await query(address.dbUrl, "update books set title = 'Emma'", []);
      assert.equal(await create('many'), first);
      const [single, other, again] = await Promise.all([
        store.createOnce(DUNE, 'one'),
        store.createOnce(DUNE, 'many'),
        create('many'),
      ]);
      assert.equal(single?.title, DUNE.title);
      assert.equal(other, undefined);
      assert.equal(again, first);
      assert.equal(await store.createMany(arrays.slice(1), 'many'), undefined);
    });

    test('a key that an earlier version has stored returns what it has created', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const one = digest(JSON.stringify(['Dune', 'Frank Herbert', 1965]));
      const many = digest(`[${JSON.stringify(DUNE)},${JSON.stringify(EMMA)},${JSON.stringify(EMMA)},`);
      const isPostgres = engine.name === 'PostgreSQL';
      const changed = [
        { id: 7, ...EMMA },
        { id: 12, ...DUNE },
        { id: 14, ...DUNE },
      ];
      for (const [key, stored] of Object.entries({
        one,
        many: isPostgres ? `${many} 7-8 12-12` : many,
        ...(isPostgres && {
          changed: `${one} {"title" : "Emma", "author" : "Jane Austen", "year" : 1815}`,
          'many changed': `${many} 7-7 12-12 14-14 ${JSON.stringify(changed)}`,
        }),
      })) {
        const values = [key, stored, isPostgres ? new Date() : Math.floor(Date.now() / 1_000)];
        await query(address.dbUrl, 'insert into idempotency_keys values ($1, $2, 7, $3)', values);
      }
      const createAll = (key: string) => createManyOnce(store, key, [DUNE, EMMA], [EMMA]);
      assertSameJson(await store.createOnce(DUNE, 'one'), { id: 7, ...DUNE });
      assert.equal(await store.createOnce(EMMA, 'one'), undefined);
      assertSameJson(await createAll('many'), [
        { id: 7, ...DUNE },
        { id: 8, ...EMMA },
        { id: isPostgres ? 12 : 9, ...EMMA },
      ]);
      assert.equal(await createManyOnce(store, 'many', [DUNE]), undefined);
      if (isPostgres) {
        assertSameJson(await store.createOnce(DUNE, 'changed'), changed[0]);
        assertSameJson(await createAll('many changed'), changed);
      }
      assertSameJson(await listBooks(store), []);
    });

    test('accepts every character of a key, and distinguishes keys by case and length', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const ascii = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');
      const keys = [ascii, 'a', 'A', 'a ', ' a', 'aa', 'x'.repeat(254), 'x'.repeat(255), "';--", '%', '_'];
      const books = await Promise.all(keys.map((key) => store.createOnce(DUNE, key)));
      assert.equal(new Set(books.map((book) => book?.id)).size, keys.length);
      assertSameJson(await Promise.all(keys.map((key) => store.createOnce(DUNE, key))), books);
    });
  });
}

test('On SQLite, repeats have what triggers of the table have made of the books', async () => {
  await using address = await (engines[0] as (typeof engines)[0]).createAddress();
  await using store = await openStoreAt(address.dbUrl);
  await query(
    address.dbUrl,
    `create trigger change after insert on books when new.title like ' %'
     begin update books set title = trim(title) where id = new.id; end`,
  );
  const books = [{ ...DUNE, title: ' Dune' }, EMMA, { ...EMMA, title: ' Emma' }];
  const first = await store.createMany([Buffer.from(JSON.stringify(books))], 'many');
  const stored = await listBooks(store);
  assert.equal(jsonOf(first ?? []), stored.map((book) => JSON.stringify(book)).join(','));
  const again = await store.createMany([Buffer.from(JSON.stringify(books))], 'many');
  assert.equal(jsonOf(again ?? []), jsonOf(first ?? []));
});

function jsonOf(pages: readonly Uint8Array[]): string {
  return pages.map((json) => Buffer.from(json).toString()).join(',');
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** The errors of the statements that are sent to PostgreSQL meanwhile. */
async function failedStatements(run: () => Promise<void>): Promise<unknown[]> {
  const failures: unknown[] = [];
  const send = Reflect.get(Client.prototype, 'query') as (...args: unknown[]) => Promise<unknown>;
  const observe = function (this: Client, ...args: unknown[]) {
    const sent = send.apply(this, args);
    sent?.catch((error: unknown) => failures.push(error));
    return sent;
  };
  Object.assign(Client.prototype, { query: observe });
  try {
    await run();
  } finally {
    Object.assign(Client.prototype, { query: send });
  }
  return failures;
}

/** Some are equal, some are not. */
function fieldsOf(index: number): BookFields {
  return [DUNE, EMMA, { ...EMMA, year: index }][index % 3] ?? DUNE;
}

/** Changes the creation time of a key to so many seconds earlier. */
async function makeOlder(dbUrl: string, key: string, seconds: number): Promise<void> {
  const createdAt = dbUrl.startsWith('sqlite:')
    ? 'created_at - $1'
    : 'created_at - make_interval(secs => $1)';
  await query(dbUrl, `update idempotency_keys set created_at = ${createdAt} where key = $2`, [seconds, key]);
}

async function keysIn(dbUrl: string): Promise<unknown[]> {
  return (await query(dbUrl, 'select key from idempotency_keys', [])).map(({ key }) => key);
}
