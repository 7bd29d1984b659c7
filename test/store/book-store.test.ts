import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ID_MAX, YEAR_MAX } from '../../src/book/book.ts';
import { TableRejection } from '../../src/book/book-store.ts';
import type { BookFields } from '../../src/book/contract.ts';
import { engines } from '../../testkit/engines.ts';
import { assertSameJson, createMany, listBooks, openArchiveAt, openStoreAt } from '../../testkit/stores.ts';
import { SPECIAL_TEXTS } from './texts.ts';

const DUNE: BookFields = { title: 'Dune', author: 'Frank Herbert', year: 1965 };
const EMMA: BookFields = { title: 'Emma', author: 'Jane Austen', year: 1815 };

for (const engine of engines) {
  describe(`A BookStore on ${engine.name}`, () => {
    test('create returns the book with its new id before its fields, and find returns the same', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const dune = await store.create(DUNE);
      const emma = await store.create(EMMA);

      assertSameJson(dune, { id: dune.id, ...DUNE });
      assert.ok(Number.isSafeInteger(dune.id) && dune.id >= 1);
      assert.notEqual(dune.id, emma.id);
      assertSameJson(await store.find(dune.id), dune);
      assertSameJson(await store.find(emma.id), emma);
    });

    test('createMany stores the books of several arrays in their order', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const arrays = [[DUNE, EMMA], [EMMA], [DUNE]];
      const created = await createMany(store, ...arrays);
      assertSameJson(await listBooks(store), created);
      assertSameJson(
        created.map(({ title, author, year }) => ({ title, author, year })),
        arrays.flat(),
      );
    });

    test('find, update and delete of a missing id return undefined, undefined and false', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const book = await store.create(DUNE);

      for (const id of [0, book.id + 1, ID_MAX]) {
        assert.equal(await store.find(id), undefined);
        assert.equal(await store.update(id, EMMA), undefined);
        assert.equal(await store.delete(id), false);
      }
      assertSameJson(await listBooks(store), [book]);
    });

    test('update changes the given fields, keeps the others and returns the whole book', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const other = await store.create(EMMA);
      let book = await store.create(DUNE);

      for (const changes of [{ title: 'Dune Messiah' }, { author: 'F. Herbert' }, { year: 1969 }, EMMA, {}]) {
        book = { ...book, ...changes };
        assertSameJson(await store.update(book.id, changes), book);
        assertSameJson(await store.find(book.id), book);
      }
      assertSameJson(await store.find(other.id), other);
    });

    test('updateExpected and deleteExpected change a book only if it equals the expected one', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const other = await store.create(DUNE);
      const book = await store.create(DUNE);

      for (const changes of [
        { title: "Dune'" },
        { author: '' },
        { year: book.year + 1 },
        { id: other.id + 2 },
      ]) {
        assert.equal(await store.updateExpected({ ...book, ...changes }, EMMA), undefined);
        assert.equal(await store.deleteExpected({ ...book, ...changes }), false);
      }
      assertSameJson(await listBooks(store), [other, book]);

      assertSameJson(await store.updateExpected(book, {}), book);
      const updated = { ...book, year: 0 };
      assertSameJson(await store.updateExpected(book, { year: 0 }), updated);
      assert.equal(await store.deleteExpected(book), false);
      assert.equal(await store.deleteExpected(updated), true);
      assert.equal(await store.deleteExpected(updated), false);
      assertSameJson(await listBooks(store), [other]);
    });

    test('update changes fields to "" and 0', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const { id } = await store.create(DUNE);

      assertSameJson(await store.update(id, { title: '' }), { id, ...DUNE, title: '' });
      assertSameJson(await store.update(id, { year: 0, author: '' }), {
        id,
        title: '',
        author: '',
        year: 0,
      });
    });

    test('delete removes the book, and a second delete returns false', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const dune = await store.create(DUNE);
      const emma = await store.create(EMMA);

      assert.equal(await store.delete(dune.id), true);
      assert.equal(await store.delete(dune.id), false);
      assert.equal(await store.find(dune.id), undefined);
      assert.equal(await store.update(dune.id, EMMA), undefined);
      assertSameJson(await listBooks(store), [emma]);
    });

    test('ids are never reused, not even the highest after a delete and a restart', async () => {
      await using address = await engine.createAddress();
      const given: number[] = [];
      for (let restart = 0; restart < 3; restart++) {
        await using store = await openStoreAt(address.dbUrl);
        for (let book = 0; book < 3; book++) {
          const { id } = await store.create(DUNE);
          given.push(id);
          assert.equal(await store.delete(id), true);
        }
        given.push((await store.create(EMMA)).id);
        assert.equal(await store.delete(given.at(-1) ?? 0), true);
      }
      assert.equal(new Set(given).size, given.length, `assigned: ${given.join()}`);
    });

    test('createMany of no books returns no books, also as the first call after a restart', async () => {
      await using address = await engine.createAddress();
      for (let start = 0; start < 2; start++) {
        await using store = await openStoreAt(address.dbUrl);
        assert.deepEqual(await createMany(store, []), []);
        assert.deepEqual(await createMany(store), []);
        await store.create(DUNE);
        assert.deepEqual(await createMany(store, []), []);
        assert.deepEqual(await createMany(store), []);
      }
    });

    test('when no id is left, creates fail, and concurrent other calls succeed', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const one = await store.createOnce(DUNE, 'a key');
      const other = await store.create(DUNE);
      {
        await using archive = await openArchiveAt(address.dbUrl);
        await archive.addWithIds([{ id: ID_MAX, ...DUNE }]);
      }
      const [, , , , found, again, updated, deleted] = await Promise.all([
        assert.rejects(store.create(DUNE), TableRejection),
        assert.rejects(createMany(store, [DUNE], [DUNE]), TableRejection),
        assert.rejects(store.createOnce(DUNE, 'a new key'), TableRejection),
        assert.rejects(store.create(DUNE), TableRejection),
        store.find(ID_MAX),
        store.createOnce(DUNE, 'a key'),
        store.update(1, { year: 1966 }),
        store.delete(other.id),
      ]);
      assertSameJson([found, again], [{ id: ID_MAX, ...DUNE }, one]);
      assertSameJson([updated, deleted], [{ ...one, year: 1966 }, true]);
      assertSameJson(await listBooks(store), [updated, found]);
    });

    test('books persist across a restart', async () => {
      await using address = await engine.createAddress();
      const books = await (async () => {
        await using store = await openStoreAt(address.dbUrl);
        return [await store.create(DUNE), await store.create(EMMA)];
      })();
      await using store = await openStoreAt(address.dbUrl);

      assertSameJson(await listBooks(store), books);
    });

    test('texts are stored unchanged', async (t) => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      for (const [name, text] of Object.entries(SPECIAL_TEXTS)) {
        await t.test(name, async () => {
          const { id } = await store.create({ title: text, author: text, year: 1 });
          const created = await store.find(id);
          assert.ok(created?.title === text && created.author === text);

          const { id: other } = await store.create(DUNE);
          const updated = await store.update(other, { title: text });
          assert.ok(updated?.title === text && updated.author === DUNE.author);
        });
      }
    });

    test('years that are exact as JSON numbers are stored unchanged', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      for (const year of [-YEAR_MAX, -(2 ** 31) - 1, -750, -1, 0, 1, 2 ** 31, 2 ** 32, YEAR_MAX]) {
        const book = await store.create({ ...DUNE, year });
        assert.equal(book.year, year);
        assertSameJson(await store.find(book.id), book);
        assertSameJson(await store.update(book.id, { year: -year + 0 }), { ...book, year: -year + 0 });
      }
    });

    test('a year of -0 is stored as 0', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const created = await store.create({ ...DUNE, year: -0 });

      assert.equal(created.year, 0);
      assert.equal((await store.update(created.id, { year: -0 }))?.year, 0);
    });
  });
}
