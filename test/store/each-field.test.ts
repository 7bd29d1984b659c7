import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { YEAR_MAX } from '../../src/book/book.ts';
import { type Book, type BookFields, FIELD_NAMES } from '../../src/book/contract.ts';
import { entityTag } from '../../src/book/entity-tag.ts';
import type { Change } from '../../src/history/book-history.ts';
import { SORT_KEYS } from '../../src/search/book-search.ts';
import type { BookArchive } from '../../src/store/book-archive.ts';
import { type Address, engines } from '../../testkit/engines.ts';
import { fieldValue, OLD } from '../../testkit/fields.ts';
import {
  createMany,
  createManyOnce,
  listBooks,
  openArchiveAt,
  textOf,
  updateMany,
} from '../../testkit/stores.ts';
import { openWithHistory, type RecordedStore, readAll, readPage, restore } from '../history/stores.ts';

const ALL_YEARS = { yearFrom: -YEAR_MAX, yearTo: YEAR_MAX };

/** One call alone, and then several of one batch: PostgreSQL has a statement for each. */
async function aloneAndTogether<Result>(call: (index: number) => Promise<Result>): Promise<Result[]> {
  const alone = await call(0);
  return [alone, ...(await Promise.all([1, 2, 3].map(call)))];
}

function typeAndBook({ type, book }: Change): readonly unknown[] {
  return [type, book];
}

/** Does something in a transaction of an archive. */
async function inArchive<Result>(
  { dbUrl }: Address,
  operate: (archive: BookArchive) => Promise<Result>,
): Promise<Result> {
  await using archive = await openArchiveAt(dbUrl);
  await archive.begin();
  const result = await operate(archive);
  await archive.commit();
  return result;
}

for (const engine of engines) {
  describe(`Each field of a book on ${engine.name}:`, () => {
    let address: Address;
    let recorded: RecordedStore;

    before(async () => {
      address = await engine.createAddress();
      recorded = await openWithHistory(address.dbUrl);
    });

    after(async () => {
      await recorded[Symbol.asyncDispose]();
      await address[Symbol.asyncDispose]();
    });

    const createOld = () => recorded.store.create(OLD);

    for (const name of FIELD_NAMES) {
      const change: Partial<BookFields> = { [name]: fieldValue(name, 'new') };
      const changed = (book: Book): Book => ({ ...book, ...change });
      /** Keys for this field, with which nothing was created before. */
      const keyOf = (index: number | string) => `${name} ${index}`;

      test(`create stores ${name}, and find returns it`, async () => {
        const fields = { ...OLD, ...change };
        for (const book of await aloneAndTogether(() => recorded.store.create(fields))) {
          assert.deepEqual(book, { id: book.id, ...fields });
          assert.deepEqual(await recorded.store.find(book.id), book);
        }
      });

      test(`createOnce stores ${name}, keeps it, and compares it`, async () => {
        const create = (fields: BookFields) =>
          aloneAndTogether((index) => recorded.store.createOnce(fields, keyOf(index)));
        const books = await create(OLD);
        for (const book of books as Book[]) {
          assert.deepEqual(book, { id: book.id, ...OLD });
          assert.deepEqual(await recorded.store.find(book.id), book);
        }
        await recorded.store.update((books[0] as Book).id, change);
        assert.deepEqual(await create(OLD), books);
        assert.deepEqual(
          await create({ ...OLD, ...change }),
          books.map(() => undefined),
        );
      });

      test(`createMany stores ${name}`, async () => {
        const fields = { ...OLD, ...change };
        const books = await createMany(recorded.store, [fields, OLD]);
        assert.deepEqual(
          books,
          [fields, OLD].map((book, index) => ({ id: books[index]?.id, ...book })),
        );
        for (const book of books) assert.deepEqual(await recorded.store.find(book.id), book);
      });

      test(`createMany with a key stores ${name}, keeps it, and compares it`, async () => {
        const books = await createManyOnce(recorded.store, keyOf('many'), [OLD]);
        assert.deepEqual(books, [{ id: books?.[0]?.id, ...OLD }]);
        assert.deepEqual(await recorded.store.find(books?.[0]?.id ?? 0), books?.[0]);
        assert.deepEqual(await createManyOnce(recorded.store, keyOf('many'), [OLD]), books);
        const others = [{ ...OLD, ...change }];
        assert.equal(await createManyOnce(recorded.store, keyOf('many'), others), undefined);
      });

      test(`update changes ${name} alone`, async () => {
        const books = await Promise.all([0, 1, 2, 3].map(createOld));
        const update = (index: number) => recorded.store.update((books[index] as Book).id, change);
        assert.deepEqual(await aloneAndTogether(update), books.map(changed));
        for (const book of books) assert.deepEqual(await recorded.store.find(book.id), changed(book));
      });

      test(`updateExpected compares ${name}, and changes it alone`, async () => {
        const books = await Promise.all([0, 1, 2, 3].map(createOld));
        const update = (expect: (book: Book) => Book) =>
          aloneAndTogether((index) => recorded.store.updateExpected(expect(books[index] as Book), change));
        assert.deepEqual(
          await update(changed),
          books.map(() => undefined),
        );
        assert.deepEqual(await update((book) => book), books.map(changed));
      });

      test(`deleteExpected compares ${name}`, async () => {
        const books = await Promise.all([0, 1, 2, 3].map(createOld));
        const remove = (expect: (book: Book) => Book) =>
          aloneAndTogether((index) => recorded.store.deleteExpected(expect(books[index] as Book)));
        assert.deepEqual(
          await remove(changed),
          books.map(() => false),
        );
        assert.deepEqual(
          await remove((book) => book),
          books.map(() => true),
        );
      });

      test(`the entity tag has ${name}, also in updateMany, which changes it alone`, async () => {
        const book = await createOld();
        assert.notEqual(entityTag(changed(book)), entityTag(book));
        const update = (tags: string) => updateMany(recorded.store, [{ id: book.id, ...change, tags }]);
        assert.deepEqual(await update(entityTag(changed(book))), { fault: 'other tag', index: 0 });
        assert.deepEqual(await update(entityTag(book)), [changed(book)]);
        assert.deepEqual(await updateMany(recorded.store, [{ id: book.id, ...OLD }]), [book]);
      });

      test(`the list has ${name}`, async () => {
        const book = changed(await createOld());
        await recorded.store.update(book.id, change);
        assert.deepEqual(
          (await listBooks(recorded.store)).find(({ id }) => id === book.id),
          book,
        );
        const page = await recorded.store.list(book.id - 1, { books: 1, bytes: 1 });
        assert.deepEqual(JSON.parse(`[${textOf(page)}]`), [book]);
      });

      test(`the history has ${name}, and restores it`, async () => {
        const { store, history } = recorded;
        const start = await history.last();
        const book = await createOld();
        await store.update(book.id, change);
        await store.delete(book.id);
        const expected = [
          ['created', book],
          ['updated', changed(book)],
          ['deleted', changed(book)],
        ];
        const followed = await readAll(history, start);
        assert.deepEqual(followed.map(typeAndBook), expected);
        const { changes } = await readPage(history, { of: book.id });
        assert.deepEqual(changes.map(typeAndBook), expected.toReversed());
        assert.deepEqual(await restore(history, book.id), changed(book));
        assert.deepEqual(await store.find(book.id), changed(book));
      });

      test(`a search shows ${name} after a change, and sorts by it where it can`, async () => {
        const { store } = recorded;
        const books = await createMany(store, [OLD, OLD]);
        const query = { ...ALL_YEARS, sort: 'id', isDescending: true } as const;
        await store.search(query, 2);
        await store.update((books[0] as Book).id, change);
        const shown = await store.search(query, 2);
        const expected = [changed(books[0] as Book), books[1]];
        assert.deepEqual(JSON.parse(`[${textOf(shown)}]`), expected.toReversed());
        const sort = SORT_KEYS.find((key) => key === name);
        if (sort === undefined) return;
        const sorted = await store.search({ ...ALL_YEARS, sort, isDescending: false }, 1_000);
        const ids = (JSON.parse(`[${textOf(sorted)}]`) as Book[]).map(({ id }) => id);
        const [newPlace, oldPlace] = books.map(({ id }) => ids.indexOf(id)) as [number, number];
        const isNewFirst = fieldValue(name, 'new') < fieldValue(name, 'old');
        assert.equal(newPlace < oldPlace, isNewFirst);
      });

      test(`an export has ${name}`, async () => {
        const book = changed(await createOld());
        await recorded.store.update(book.id, change);
        await using archive = await openArchiveAt(address.dbUrl);
        const exported: Book[] = [];
        for await (const json of archive.pages())
          exported.push(...(JSON.parse(`[${textOf({ json })}]`) as Book[]));
        assert.deepEqual(
          exported.find(({ id }) => id === book.id),
          book,
        );
        assert.deepEqual(await archive.find([book.id]), [book]);
      });

      test(`an import stores ${name}, compares it, and changes it alone`, async () => {
        const fields = { ...OLD, ...change };
        await inArchive(address, (archive) => archive.add([fields]));
        const added = (await listBooks(recorded.store)).at(-1) as Book;
        assert.deepEqual(added, { id: added.id, ...fields });
        const book = { id: added.id + 1, ...fields };
        const addWithId = (given: Book) => inArchive(address, (archive) => archive.addWithIds([given]));
        assert.deepEqual(await addWithId(book), ['stored']);
        assert.deepEqual(await recorded.store.find(book.id), book);
        assert.deepEqual(await addWithId(book), ['present']);
        const old = { ...book, [name]: OLD[name] };
        assert.deepEqual(await addWithId(old), ['taken']);
        const update = (expected: Book) =>
          inArchive(address, (archive) => archive.update([{ before: expected, after: { ...book, ...OLD } }]));
        assert.deepEqual(await update({ ...old, id: book.id }), [false]);
        assert.deepEqual(await update(book), [true]);
        assert.deepEqual(await recorded.store.find(book.id), old);
      });
    }
  });
}
