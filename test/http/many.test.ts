import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BOOKS_MAX } from '../../src/api/many-books.ts';
import { type Book, type BookFields, TEXT_LENGTH_MAX } from '../../src/book/contract.ts';
import { assertError, assertSuccess } from '../../testkit/assertions.ts';
import { Connection, request } from '../../testkit/connection.ts';
import { engines } from '../../testkit/engines.ts';
import { longBooks } from '../../testkit/long-books.ts';
import { type Service, startService, TITLE } from '../../testkit/service.ts';
import { SPECIAL_TEXTS } from '../store/texts.ts';

const CREATED = 'Books created successfully';
const UPDATED = 'Books updated successfully';
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
      const books = longBooks(15).padEnd(16 * MEBIBYTE);
      const { length } = await createMany(service, books);
      const response = await service.fetch('POST', '/books', `${books} `);
      assert.equal(response.status, 413);
      assert.equal((await listBooks(service)).length, length);
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

for (const { name: engine } of engines) {
  describe(`PATCH /books on ${engine}`, () => {
    test('changes and deletes books, and returns them in the order of the request, with null for deleted ones', async () => {
      await using service = await startService({ engine, hasHistory: true });
      const [a, b, c, d] = await createMany(service, '[{},{},{},{}]');
      assert.ok(a && b && c && d);
      const body = [
        { id: d.id, TITLE: TITLE, year: 1, unknown: null },
        { id: b.id, deleted: true, isDeleted: 1 },
        { id: a.id, deleted: false },
        { Id: c.id, Author: TITLE, ifmatch: '*' },
      ];
      assert.deepEqual(await updateMany(service, body), [
        { ...d, title: TITLE, year: 1 },
        null,
        a,
        { ...c, author: TITLE },
      ]);
      assert.deepEqual(await listBooks(service), [
        a,
        { ...c, author: TITLE },
        { ...d, title: TITLE, year: 1 },
      ]);
      assert.deepEqual(await updateMany(service, []), []);

      // One change for each book; `a` is as it was.
      const { data } = (await (await service.fetch('GET', '/changes')).json()) as {
        data: { type: string; book: Book }[];
      };
      const changes = data.slice(4).map(({ type, book }) => `${type} ${book.id}`);
      assert.deepEqual(changes.toSorted(), [`deleted ${b.id}`, `updated ${c.id}`, `updated ${d.id}`]);
    });

    test('changes nothing when a book has another tag, and returns its index', async () => {
      await using service = await startService({ engine });
      using connection = await Connection.open(service);
      const books = await createMany(service, '[{},{"title":"ö"}]');
      const [a, b] = books;
      assert.ok(a && b);
      const tag = (await service.fetch('GET', `/book/${b.id}`)).headers.get('etag');
      assert.ok(tag);
      for (const ifMatch of [tag.slice(1, -1), `W/${tag}`, `"x${tag.slice(1)}, ${tag.slice(0, -1)}x"`]) {
        const changes = [{ id: a.id, title: TITLE }, { id: b.id, ifMatch }, { id: 12_345 }];
        await connection.send(request('PATCH /books', [service.authorization], JSON.stringify(changes)));
        const response = await connection.response();
        assertError(response, 412, 'Precondition failed');
        assert.equal(response.headers.get('invalid-index'), '1', ifMatch);
        assert.deepEqual(await listBooks(service), books);
      }
      const met = [
        { id: b.id, year: 1, ifMatch: `"x", W/"y", ${tag}` },
        { id: a.id, year: 1, ifMatch: ' * ' },
      ];
      assert.deepEqual(await updateMany(service, met), [
        { ...b, year: 1 },
        { ...a, year: 1 },
      ]);
    });

    test(`changes and deletes ${BOOKS_MAX} books in one request`, async () => {
      await using service = await startService({ engine });
      const fields = Array.from({ length: BOOKS_MAX }, (_, year) => ({ title: TITLE, year }));
      const books = await createMany(service, JSON.stringify(fields));
      const changed = books.map((book) => ({ ...book, author: 'Mervyn Peake' }));
      assert.deepEqual(
        await updateMany(
          service,
          books.map(({ id }) => ({ id, author: 'Mervyn Peake' })),
        ),
        changed,
      );
      assert.deepEqual(await listBooks(service), changed);
      const deletions = books.toReversed().map(({ id }) => ({ id, deleted: true }));
      const deleted = await updateMany(service, deletions);
      assert.ok(deleted.length === BOOKS_MAX && deleted.every((book) => book === null));
      assert.deepEqual(await listBooks(service), []);
    });

    test('accepts a body of 16 MiB, and responds 413 to a longer one, and to longer books', async () => {
      await using service = await startService({ engine });
      const text = 'x'.repeat(4_096);
      const books = await createMany(service, `[${Array.from({ length: 2_200 }, () => '{}').join(',')}]`);
      const update = async (fields: object) => {
        const body = JSON.stringify(books.map(({ id }) => ({ id, ...fields })));
        const response = await service.fetch('PATCH', '/books', body.padEnd(16 * MEBIBYTE));
        return [response.status, ((await response.json()) as { data: unknown }).data] as const;
      };
      const long = books.map((book) => ({ ...book, title: text }));
      assert.deepEqual(await update({ title: text }), [200, long]);
      assert.equal((await service.fetch('PATCH', '/books', '[]'.padEnd(16 * MEBIBYTE + 1))).status, 413);

      const [first, ...others] = books;
      const rest = others.map(({ id }) => ({ id, author: text }));
      await updateMany(service, rest.slice(0, 1_000));
      await updateMany(service, rest.slice(1_000));
      assert.deepEqual(await update({ year: 1 }), [413, null]);
      const { data } = (await (await service.fetch('GET', `/book/${first?.id}`)).json()) as { data: Book };
      assert.equal(data.year, 0);
    });

    test('is 503 while there is no memory for its response, and changes nothing', async () => {
      await using service = await startService({
        engine,
        // For a book that is as long as one may be, whatever the length of this one.
        httpLimits: { unreadBytesAtOnce: 6 * 2 * TEXT_LENGTH_MAX.title },
      });
      const books = await createMany(service, '[{}]');
      const body = JSON.stringify(books.map(({ id }) => ({ id, year: 1 })));
      assert.equal((await service.fetch('PATCH', '/books', body)).status, 503);
      const { data } = (await (await service.fetch('GET', '/book/1')).json()) as { data: Book };
      assert.deepEqual([data], books);
    });

    test('is atomic for concurrent readers', async () => {
      await using service = await startService({ engine });
      const books = await createMany(service, JSON.stringify(Array.from({ length: 200 }, () => ({}))));
      const writes = Array.from({ length: 10 }, (_, year) =>
        updateMany(
          service,
          (year % 2 === 0 ? books : books.toReversed()).map(({ id }) => ({ id, year })),
        ),
      );
      const lists = Array.from({ length: 50 }, () => listBooks(service));
      for (const list of await Promise.all(lists))
        assert.equal(new Set(list.map(({ year }) => year)).size, 1);
      await Promise.all(writes);
    });
  });

  describe(`Idempotency-Key on POST /books on ${engine}`, () => {
    test('a retry gets the first response, byte for byte, and creates nothing', async () => {
      await using service = await startService({ engine });
      const fields = [...Object.values(SPECIAL_TEXTS), 'x'.repeat(4_096)].map((title, year) => ({
        title,
        author: TITLE,
        year,
      }));
      const body = JSON.stringify(fields);
      const post = async (content: string, key: string) => {
        const response = await service.fetch('POST', '/books', content, { 'idempotency-key': key });
        return [response.status, await response.text()] as const;
      };
      const first = await post(body, 'abc');
      assert.equal(first[0], 201);
      const created = await listBooks(service);
      // The same books in another notation, which are divided otherwise.
      const equivalent = JSON.stringify(
        fields.map((book) => ({ ...book, padding: 'x'.repeat(book.title.length < 1_000 ? 99_999 : 1) })),
      );
      for (const content of [body, equivalent]) assert.deepEqual(await post(content, '"abc"'), first);
      const other = [422, '{"status":422,"message":"Idempotency key reused","data":null}'];
      assert.deepEqual(await post('[{}]', 'abc'), other);
      assert.deepEqual(await post('[]', 'abc'), other);
      assert.equal((await post('[{}]', '"'))[0], 400);
      assert.deepEqual(await listBooks(service), created);
      assert.equal((await post('[{]', 'new'))[0], 400);
      assert.equal((await post('[{}]', 'new'))[0], 201);
    });
  });
}

test('POST /books creates nothing when an element is invalid, and returns its index', async () => {
  await using service = await startService();
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

// Further examples are in the conformance kit.
test('PATCH /books changes nothing when a change is invalid, and returns its index', async () => {
  await using service = await startService();
  using connection = await Connection.open(service);
  const [book] = await createMany(service, `[{"title":"${TITLE}"}]`);
  assert.ok(book);
  const { id } = book;
  const first = `{"id":${id},"year":1}`;
  for (const [body, index] of [
    ['[{"id":null}]', '0'],
    [`[${first},{"id":99,"title":1}]`, '1'],
    [`[${first},{"id":99,"title":"\\u0000"}]`, '1'],
    [`[${first},{"id":99,"author":"\\ud800"}]`, '1'],
    [`[${first},{"id":99,"year":1.5}]`, '1'],
    [`[${first},{"id":99,"deleted":"true"}]`, '1'],
    [`[${first},{"id":99,"deleted":null}]`, '1'],
    [`[${first},{"id":99,"ifMatch":null}]`, '1'],
    [`[${first},{"id":99},{"id":${id}.0,"deleted":true}]`, '2'],
    [`[${first},{"id":99}`, '2'],
    [`[${first},{"id":99},{"id":98,"title":"${'x'.repeat(4_097)}"}]`, '2'],
    [
      `[${Array.from({ length: BOOKS_MAX + 1 }, (_, other) => `{"id":${id + other}}`).join(',')}]`,
      String(BOOKS_MAX),
    ],
  ] as const) {
    await connection.send(request('PATCH /books', [service.authorization], body));
    const response = await connection.response();
    assert.equal(response.status, 400, body.slice(0, 200));
    assertError(response, 400, 'Invalid input');
    assert.equal(response.headers.get('invalid-index'), index, body.slice(0, 200));
    assert.ok(response.headers.get('error-detail'));
  }
  await connection.send(request('PATCH /books', [], `[${first}]`));
  assertError(await connection.response(), 401, 'Authorization token required');
  assert.deepEqual(await listBooks(service), [book]);
});

async function updateMany(service: Service, body: unknown): Promise<(Book | null)[]> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await service.fetch('PATCH', '/books', text);
  const { status, headers } = response;
  return assertSuccess({ status, headers, body: await response.text() }, 200, UPDATED) as (Book | null)[];
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
