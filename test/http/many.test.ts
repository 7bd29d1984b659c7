import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BOOKS_MAX } from '../../src/api/many-books.ts';
import type { Book, BookFields } from '../../src/book/book.ts';
import { SPECIAL_TEXTS } from '../store/texts.ts';
import { engines } from '../support/engines.ts';
import { assertError, assertSuccess } from './assertions.ts';
import { Connection, request } from './connection.ts';
import { type Service, startService, TITLE } from './service.ts';

const CREATED = 'Books created successfully';
const MEBIBYTE = 1_024 * 1_024;

for (const { name: engine } of engines) {
  describe(`POST /books on ${engine}`, () => {
    test('creates all books in order, and returns them as GET /books does', async () => {
      await using service = await startService({ engine });
      await service.fetch('POST', '/book', '{}');
      const fields = [...Object.values(SPECIAL_TEXTS), 'equal', 'equal', 'equal'].map((title, year) => ({
        title,
        author: TITLE,
        year: title === 'equal' ? 0 : 5 - year,
      }));
      const created = await createMany(service, JSON.stringify(fields));
      assert.deepEqual(
        created.map(({ title, author, year }) => ({ title, author, year })),
        fields,
      );
      assert.deepEqual(Object.keys(created[0] ?? {}), ['id', 'title', 'author', 'year']);
      const [, ...listed] = await listBooks(service);
      assert.deepEqual(listed, created);
      assert.deepEqual(
        created.map(({ id }) => id),
        created.map(({ id }) => id).toSorted((one, other) => one - other),
      );
    });

    test(`creates ${BOOKS_MAX} books in one request, and none for an empty array`, async () => {
      await using service = await startService({ engine });
      assert.deepEqual(await createMany(service, ' [ ] '), []);
      const fields = Array.from({ length: BOOKS_MAX }, (_, year) => ({
        title: TITLE,
        author: `${year % 7}`,
        year,
      }));
      const created = await createMany(service, JSON.stringify(fields));
      assert.deepEqual(
        created.map(({ year }) => year),
        fields.map(({ year }) => year),
      );
      assert.deepEqual(await listBooks(service), created);
    });

    test('accepts a body of 16 MiB, and responds 413 to a longer one', async () => {
      await using service = await startService({ engine });
      const long = JSON.stringify(Array.from({ length: 15 }, () => ({ title: 'x'.repeat(MEBIBYTE - 20) })));
      const books = long.padEnd(16 * MEBIBYTE);
      assert.equal((await createMany(service, books)).length, 15);
      const response = await service.fetch('POST', '/books', `${books} `);
      assert.equal(response.status, 413);
      assert.equal((await listBooks(service)).length, 15);
    });

    test('creates nothing when an element is invalid, and returns its index', async () => {
      await using service = await startService({ engine });
      using connection = await Connection.open(service);
      for (const [body, index] of [
        ['[{},{"year":"x"},{"year":"y"}]', '1'],
        [`[${'{},'.repeat(BOOKS_MAX)}{}]`, String(BOOKS_MAX)],
        ['[{} {}]', '1'],
        ['[{}', '1'],
        ['{}', null],
        ['', null],
      ] as const) {
        await connection.send(request('POST /books', [service.authorization], body));
        const response = await connection.response();
        assertError(response, 400, 'Invalid input');
        assert.equal(response.headers.get('invalid-index'), index);
      }
      await connection.send(request('POST /books', [], '[{}]'));
      assertError(await connection.response(), 401, 'Authorization token required');
      assert.deepEqual(await listBooks(service), []);
    });

    test('is atomic for concurrent readers', async () => {
      await using service = await startService({ engine });
      const body = JSON.stringify(Array.from({ length: 200 }, (): Partial<BookFields> => ({ title: TITLE })));
      const writing = Promise.all(Array.from({ length: 10 }, () => createMany(service, body)));
      const lists = Array.from({ length: 50 }, () => listBooks(service));
      for (const books of await Promise.all(lists)) assert.equal(books.length % 200, 0);
      const created = (await writing).flat();
      assert.equal(new Set(created.map(({ id }) => id)).size, 2_000);
    });
  });
}

async function createMany(service: Service, body: string): Promise<Book[]> {
  const response = await service.fetch('POST', '/books', body);
  const { status, headers } = response;
  return assertSuccess({ status, headers, body: await response.text() }, 201, CREATED) as Book[];
}

async function listBooks(service: Service): Promise<Book[]> {
  const { data } = (await (await service.fetch('GET', '/books')).json()) as { data: Book[] };
  return data;
}
