import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { UPDATED_BYTES_MAX } from '../../src/book/book-store.ts';
import type { UpdateItem } from '../../src/book/book-update.ts';
import type { Book, BookFields } from '../../src/book/contract.ts';
import { entityTag } from '../../src/book/entity-tag.ts';
import { engines } from '../../testkit/engines.ts';
import { createDatabase, type Database } from '../../testkit/postgres.ts';
import { query } from '../../testkit/sql.ts';
import {
  assertSameJson,
  createMany,
  createManyOnce,
  listBooks,
  openStoreAt,
  updateMany,
} from '../../testkit/stores.ts';
import { SPECIAL_TEXTS } from './texts.ts';

const DUNE: BookFields = { title: 'Dune', author: 'Frank Herbert', year: 1965 };
const MEBIBYTE = 1_024 * 1_024;

for (const engine of engines) {
  describe(`updateMany on ${engine.name}`, () => {
    test('changes and deletes books, and returns them in the order of the changes', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const [a, b, c, d] = (await createMany(store, [DUNE, DUNE, DUNE, DUNE])) as [Book, Book, Book, Book];
      const changed = await updateMany(
        store,
        [
          { id: d.id, title: 'Emma', year: -1 },
          { id: b.id, isDeleted: true },
        ],
        [{ id: a.id }, { id: c.id, author: '' }],
      );
      const [newD, newC] = [
        { ...d, title: 'Emma', year: -1 },
        { ...c, author: '' },
      ];
      assertSameJson(changed, [newD, null, a, newC]);
      assertSameJson(await listBooks(store), [a, newC, newD]);
      assertSameJson(await updateMany(store), []);
      assertSameJson(await updateMany(store, [], []), []);
      assertSameJson(await listBooks(store), [a, newC, newD]);
    });

    test('stores every text', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const texts = Object.values(SPECIAL_TEXTS);
      const books = await createMany(
        store,
        texts.map(() => DUNE),
      );
      const expected = books.map(({ id, year }, index) => ({
        id,
        title: texts[index] ?? '',
        author: texts.at(-index - 1) ?? '',
        year,
      }));
      const changes = expected.map(({ id, title, author }) => ({ id, title, author }));
      assertSameJson(await updateMany(store, changes), expected);
      assertSameJson(await listBooks(store), expected);
      // Both engines compute the same tags.
      const tagged = expected.map((book) => ({ id: book.id, year: 1, tags: entityTag(book) }));
      assertSameJson(
        await updateMany(store, tagged),
        expected.map((book) => ({ ...book, year: 1 })),
      );
    });

    test('changes nothing when there is no book, or one with another tag, and names the first', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const books = (await createMany(store, [DUNE, DUNE, DUNE])) as [Book, Book, Book];
      const [a, b, c] = books;
      const absent = c.id + 1;
      const [tag, other] = [entityTag(a), entityTag(b)];
      for (const [changes, fault, index] of [
        [[{ id: absent, year: 1 }], 'absent', 0],
        [
          [
            { id: a.id, year: 1 },
            { id: absent, isDeleted: true },
          ],
          'absent',
          1,
        ],
        [
          [
            { id: a.id, isDeleted: true },
            { id: b.id, year: 1 },
            { id: absent, year: 1 },
          ],
          'absent',
          2,
        ],
        [[{ id: a.id, year: 1, tags: other }], 'other tag', 0],
        [[{ id: a.id, isDeleted: true, tags: '' }], 'other tag', 0],
        [
          [
            { id: c.id, year: 1 },
            { id: b.id, isDeleted: true, tags: tag },
          ],
          'other tag',
          1,
        ],
        [[{ id: c.id, year: 1 }, { id: b.id, tags: tag }, { id: absent }], 'other tag', 1],
        [
          [
            { id: c.id, year: 1 },
            { id: absent, tags: tag },
            { id: a.id, tags: other },
          ],
          'absent',
          1,
        ],
      ] as [UpdateItem[], string, number][]) {
        assertSameJson(await updateMany(store, changes), { fault, index });
        assertSameJson(await listBooks(store), books);
      }
      const met: UpdateItem[] = [
        { id: b.id, year: 1, tags: `"x",${other}` },
        { id: a.id, isDeleted: true, tags: `${tag},"x"` },
      ];
      assertSameJson(await updateMany(store, met), [{ ...b, year: 1 }, null]);
      assertSameJson(await updateMany(store, [{ id: b.id, tags: other }]), { fault: 'other tag', index: 0 });
      assertSameJson(await listBooks(store), [{ ...b, year: 1 }, c]);
    });

    test('changes nothing when the books have more than 17 MiB of text together', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const long = { ...DUNE, title: 'x'.repeat(MEBIBYTE), author: '' };
      const books: Book[] = [];
      for (let bytes = MEBIBYTE; bytes < UPDATED_BYTES_MAX; bytes += MEBIBYTE)
        books.push(await store.create(long));
      const changes = books.map(({ id }) => ({ id, year: 1 }));
      const fitting = await updateMany(store, changes);
      assertSameJson(
        fitting,
        books.map((book) => ({ ...book, year: 1 })),
      );
      const { id } = await store.create({ ...long, author: 'x' });
      for (const change of [{ id, year: 2 }, { id, isDeleted: true } as const])
        assertSameJson(await updateMany(store, changes, [change]), { fault: 'too long', index: 0 });
      assert.equal((await store.find(id))?.year, DUNE.year);
    });

    test('changes nothing when the response would have more than 17 MiB: as JSON, a control character has six', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const long = { ...DUNE, title: '\u0001'.repeat(MEBIBYTE) };
      const books = [await store.create(long), await store.create(long), await store.create(long)];
      const [a, b, c] = books as [Book, Book, Book];
      const tooLong = { fault: 'too long', index: 0 };
      assertSameJson(
        await updateMany(
          store,
          [a, b, c].map(({ id }) => ({ id, year: 1 })),
        ),
        tooLong,
      );
      assertSameJson(
        await updateMany(store, [{ id: a.id }, { id: b.id }], [{ id: c.id, author: 'x' }]),
        tooLong,
      );
      assertSameJson(await updateMany(store, [{ id: a.id, year: 1 }, { id: b.id }, { id: 1_000 }]), {
        fault: 'absent',
        index: 2,
      });
      for (const book of books) assertSameJson(await store.find(book.id), book);
      // What is replaced or deleted is not sent.
      const fitting: UpdateItem[] = [{ id: a.id, title: '' }, { id: b.id }, { id: c.id, isDeleted: true }];
      assertSameJson(await updateMany(store, fitting), [{ ...a, title: '' }, b, null]);
    });

    test('of concurrent calls with the tags of the same books one succeeds', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      await using neighbour = await openStoreAt(address.dbUrl);
      let books = await createMany(
        store,
        Array.from({ length: 20 }, () => DUNE),
      );
      for (let round = 0; round < 10; round++) {
        const changes = (caller: number) =>
          books.map((book) => ({ id: book.id, author: `${round} ${caller}`, tags: entityTag(book) }));
        const results = await Promise.all(
          Array.from({ length: 8 }, (_, caller) => {
            const order = caller % 2 === 0 ? changes(caller) : changes(caller).toReversed();
            return updateMany(caller % 3 === 0 ? store : neighbour, order);
          }),
        );
        const changed = results.filter((result) => !('fault' in result));
        assert.equal(changed.length, 1);
        books = await listBooks(store);
        assert.equal(new Set(books.map(({ author }) => author)).size, 1);
      }
    });

    test('is atomic among concurrent calls on overlapping books in any order', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      await using neighbour = await openStoreAt(address.dbUrl);
      const books = await createMany(
        store,
        Array.from({ length: 30 }, () => DUNE),
      );
      const calls = Array.from({ length: 40 }, async (_, call) => {
        const one = call % 2 === 0 ? store : neighbour;
        const changes = books.map(({ id }) => ({ id, title: `${call}`, author: `${call}` }));
        const order = call % 3 === 0 ? changes : changes.toReversed();
        assert.ok(!('fault' in (await updateMany(one, order))));
        const { id } = books[call % books.length] as Book;
        assert.ok(await one.update(id, { year: call }));
      });
      await Promise.all(calls);
      const after = await listBooks(store);
      assert.equal(new Set(after.map(({ title, author }) => `${title} ${author}`)).size, 1);
      assert.ok(after.every(({ year }) => year < 40));
    });

    test('deletes a book once: of concurrent deletions of overlapping books, one or none succeeds', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      await using neighbour = await openStoreAt(address.dbUrl);
      for (let round = 0; round < 5; round++) {
        const books = await createMany(
          store,
          Array.from({ length: 10 }, () => DUNE),
        );
        const deletions = books.map(({ id }) => ({ id, isDeleted: true }) as const);
        const [first] = deletions;
        const results = await Promise.all([
          updateMany(store, deletions),
          updateMany(neighbour, deletions.toReversed()),
          neighbour.delete(first?.id ?? 0),
        ]);
        const wholes = results.filter((result) => Array.isArray(result)).length;
        assert.equal(wholes + (results[2] ? 1 : 0), 1);
        assert.equal((await listBooks(store)).length, wholes === 1 ? 0 : 9);
        await updateMany(
          store,
          (await listBooks(store)).map(({ id }) => ({ id, isDeleted: true })),
        );
      }
    });
  });

  describe(`createMany with a key on ${engine.name}`, () => {
    const arrays = [[DUNE, { ...DUNE, title: '' }], [DUNE], [{ ...DUNE, title: 'ö😀\u0001"\\' }]];

    test('returns the books of the first call again, however they are divided, also after changes and a restart', async () => {
      await using address = await engine.createAddress();
      let first: Book[] | undefined;
      {
        await using store = await openStoreAt(address.dbUrl);
        await using neighbour = await openStoreAt(address.dbUrl);
        // Other calls use ids between.
        const others = Array.from({ length: 50 }, () => neighbour.create(DUNE));
        first = await createManyOnce(store, 'key', ...arrays);
        await Promise.all(others);
        assertSameJson(
          first?.map(({ title, author, year }) => ({ title, author, year })),
          arrays.flat(),
        );
        const stored = new Map((await listBooks(store)).map((book) => [book.id, book]));
        assertSameJson(
          first?.map(({ id }) => stored.get(id)),
          first,
        );
        await store.delete(first?.[0]?.id ?? 0);
        await store.update(first?.[1]?.id ?? 0, { title: 'changed' });
        assertSameJson(await createManyOnce(store, 'key', [], arrays.flat(), []), first);
      }
      await using store = await openStoreAt(address.dbUrl);
      const before = await listBooks(store);
      assertSameJson(await createManyOnce(store, 'key', ...arrays), first);
      assertSameJson(await createManyOnce(store, 'no books'), []);
      assertSameJson(await createManyOnce(store, 'no books'), []);
      assertSameJson(await listBooks(store), before);
    });

    test('rejects other books for a known key, also of createOnce, and creates nothing', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const [book] = (await createManyOnce(store, 'many', [DUNE])) ?? [];
      const single = await store.createOnce(DUNE, 'one');
      assert.equal(await createManyOnce(store, 'many', [DUNE, DUNE]), undefined);
      assert.equal(await createManyOnce(store, 'many'), undefined);
      assert.equal(await createManyOnce(store, 'one', [DUNE]), undefined);
      assert.equal(await store.createOnce(DUNE, 'many'), undefined);
      assertSameJson(await listBooks(store), [book, single]);
    });

    test('creates the books once for concurrent calls, also from two stores', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      await using neighbour = await openStoreAt(address.dbUrl);
      for (let round = 0; round < 10; round++) {
        const results = await Promise.all(
          Array.from({ length: 8 }, (_, caller) =>
            createManyOnce(caller % 2 === 0 ? store : neighbour, `round ${round}`, ...arrays),
          ),
        );
        for (const result of results) assertSameJson(result, results[0]);
        assert.equal((await listBooks(store)).length, (round + 1) * arrays.flat().length);
      }
    });

    test('an expired key creates books again', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const first = await createManyOnce(store, 'key', [DUNE]);
      const before = address.dbUrl.startsWith('sqlite:') ? '- 100000' : "- interval '2 days'";
      await query(address.dbUrl, `update idempotency_keys set created_at = created_at ${before}`, []);
      const second = await createManyOnce(store, 'key', [DUNE, DUNE]);
      assert.equal(second?.length, 2);
      assertSameJson(await createManyOnce(store, 'key', [DUNE, DUNE]), second);
      assert.equal((await listBooks(store)).length, (first?.length ?? 0) + 2);
    });
  });
}

describe('updateMany on PostgreSQL, while another program has changed a book and not yet committed', () => {
  for (const [change, tagged, untagged] of [
    ["update books set title = 'Emma' where id = $1", { fault: 'other tag', index: 1 }, 'Emma'],
    ['delete from books where id = $1', { fault: 'absent', index: 1 }, undefined],
  ] as const) {
    test(`waits, and sees the change: ${change}`, async () => {
      await using database = await createDatabase();
      await using store = await openStoreAt(database.url);
      for (const isTagged of [true, false]) {
        const [a, b] = (await createMany(store, [DUNE, DUNE])) as [Book, Book];
        const other = new Client(database.url);
        await other.connect();
        await other.query('begin');
        await other.query(change, [b.id]);
        const updates = [a, b].map((book) => ({
          id: book.id,
          year: 1,
          ...(isTagged && { tags: entityTag(book) }),
        }));
        const calls = Promise.all([updateMany(store, updates), updateMany(store, updates.toReversed())]);
        await waitForLock(database);
        await other.query('commit');
        await other.end();
        const [result] = await calls;
        if (isTagged || untagged === undefined) assertSameJson(result, tagged);
        else
          assertSameJson(result, [
            { ...a, year: 1 },
            { ...b, title: untagged, year: 1 },
          ]);
        const isUpdated = !isTagged && untagged !== undefined;
        assert.equal((await store.find(a.id))?.year, isUpdated ? 1 : DUNE.year);
        assert.deepEqual(
          await store.find(b.id),
          untagged && { ...b, title: untagged, year: isUpdated ? 1 : DUNE.year },
        );
      }
    });
  }
});

async function waitForLock(database: Database): Promise<void> {
  const waiting =
    "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  while ((await database.query(waiting)).length === 0) await sleep(10);
}
