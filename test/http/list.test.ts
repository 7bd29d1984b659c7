import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ListPage } from '../../src/book/book-store.ts';
import type { Book } from '../../src/book/contract.ts';
import { engines } from '../../testkit/engines.ts';
import { type Service, startService, startServiceOn } from '../../testkit/service.ts';
import { createMany, openStoreAt, textOf } from '../../testkit/stores.ts';

for (const engine of engines) {
  describe(`GET /books on ${engine.name}`, () => {
    test('reads pages of 700 books, or of fewer that have 128 KiB, and each book once', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      const pages: ListPage[] = [];
      const list = store.list.bind(store);
      store.list = async (after, options) => {
        const page = await list(after, options);
        // A copy, as the service frees pages.
        pages.push({ ...page, json: page.json.slice() });
        return page;
      };
      await using service = await startServiceOn(store);
      for (const [count, title] of [
        [1_100, 'short'],
        [600, 'x'.repeat(600)],
        [60, '\u0001'.repeat(4_096)],
      ] as const)
        await createMany(store, makeBooks(count, title));
      const books = await readBooks(service);
      assert.deepEqual(
        books.map(({ id }) => id),
        Array.from({ length: 1_760 }, (_, index) => index + 1),
      );
      const counts = pages.map((page) => (JSON.parse(`[${textOf(page)}]`) as Book[]).length);
      assert.equal(counts[0], 700);
      for (const { json } of pages) assert.ok(json.length <= 128 * 1_024, `${json.length} bytes`);
      // No page is much shorter than it may be, so a list takes no more of them than it needs.
      assert.ok(pages.length < 25, counts.join(' '));
    });

    test('has room for 128 clients at the same time', async () => {
      await using service = await startService({ engine: engine.name });
      const books = JSON.stringify(makeBooks(5_000));
      assert.equal((await service.fetch('POST', '/books', books)).status, 201);
      await readBooks(service);
      const lists = await Promise.all(Array.from({ length: 128 }, () => service.fetch('GET', '/books')));
      assert.ok(lists.every(({ status }) => status === 200));
      for (const list of lists) assert.equal(((await list.json()) as { data: Book[] }).data.length, 5_000);
    });

    test('sends a client that stops reading all books, while others read the same pages', async () => {
      // Longer than any machine takes to read the others.
      await using service = await startService({ engine: engine.name, httpLimits: { stallMs: 300_000 } });
      const letters = 'abcdefgh';
      // More bytes than the sockets keep.
      for (const letter of letters) {
        const books = JSON.stringify(makeBooks(4_000, letter.repeat(1_000)));
        assert.equal((await service.fetch('POST', '/books', books)).status, 201);
      }
      const headers = { authorization: service.token };
      const responses = await Promise.all([1, 2, 3].map(() => fetch(`${service.url}/books`, { headers })));
      const [stopped, ...others] = responses;
      const texts = await Promise.all(others.map((response) => response.text()));
      texts.push((await stopped?.text()) ?? '');
      for (const text of texts) {
        const { data } = JSON.parse(text) as { data: Book[] };
        assert.equal(data.length, 32_000);
        const isWhole = ({ id, title }: Book) =>
          title === letters[Math.floor((id - 1) / 4_000)]?.repeat(1_000);
        assert.ok(data.every(isWhole));
      }
    });

    test('returns every book that exists throughout once, in ascending order of id, while others write', async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      await using service = await startServiceOn(store);
      const ids = (await createMany(store, makeBooks(8_000))).map(({ id }) => id);
      const staying = ids.filter((id) => id % 3 !== 0);

      const writing = new AbortController();
      const write = async () => {
        for (let start = 0; start < ids.length; start += 80) {
          const some = ids.slice(start, start + 80);
          await Promise.all([
            store.create({ title: 'new', author: '', year: 0 }),
            ...some.map((id) =>
              id % 3 === 0 ? store.delete(id) : store.update(id, { title: 'x'.repeat(id % 300) }),
            ),
          ]);
        }
      };
      const written = write().finally(() => writing.abort());
      do {
        const met = (await readBooks(service)).map(({ id }) => id);
        assert.deepEqual(
          met,
          [...new Set(met)].toSorted((a, b) => a - b),
        );
        const isMet = new Set(met);
        assert.deepEqual(
          staying.filter((id) => !isMet.has(id)),
          [],
        );
      } while (!writing.signal.aborted);
      await written;
    });
  });
}

function makeBooks(count: number, title = 'x'.repeat(30)): object[] {
  return Array.from({ length: count }, (_, year) => ({ title, author: '', year }));
}

async function readBooks(service: Service): Promise<Book[]> {
  const { data } = (await (await service.fetch('GET', '/books')).json()) as { data: Book[] };
  return data;
}
