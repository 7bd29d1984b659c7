import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ID_MAX, YEAR_MAX } from '../../src/book/book.ts';
import { engines } from '../../testkit/engines.ts';
import { type Service, startService } from '../../testkit/service.ts';
import { query } from '../../testkit/sql.ts';
import { requestSearch } from './search-responses.ts';

/** Tables of another program, without the constraints of our own. */
const TABLES = {
  SQLite: 'create table books (id integer primary key autoincrement, title text, author text, year integer)',
  PostgreSQL: 'create table books (id bigserial primary key, title text, author text, year bigint)',
};

const BEYOND = '1152921504606846977';
const ROWS = `
  insert into books (id, title, author, year) values (1, 'Late', 'A', ${BEYOND}), (2, 'Early', 'A', -${BEYOND}),
    (3, 'Exact', 'A', 1999), (${BEYOND}, 'No book', 'A', 2000), (-${BEYOND}, 'No book', 'A', 2000)
`;
const [LATE, EARLY, EXACT] = [
  { id: 1, title: 'Late', author: 'A', year: YEAR_MAX },
  { id: 2, title: 'Early', author: 'A', year: -YEAR_MAX },
  { id: 3, title: 'Exact', author: 'A', year: 1999 },
];

interface Change {
  readonly type: string;
  readonly book: { readonly id: number };
}

async function read(service: Service, path: string): Promise<unknown> {
  const response = await requestSearch(service, path);
  assert.equal(response.status, 200, path);
  return ((await response.json()) as { data: unknown }).data;
}

const sorted = (changes: unknown) =>
  (changes as Change[])
    .map(({ type, book }) => ({ type, book }))
    .toSorted((one, other) => one.book.id - other.book.id);

for (const engine of engines) {
  describe(`Rows with numbers beyond the exact ones, written by another program under the service, on ${engine.name}`, () => {
    for (const hasHistory of [true, false]) {
      test(`are read, found and changed within the range, ${hasHistory ? 'with' : 'without'} a history`, async () => {
        await using address = await engine.createAddress();
        await query(address.dbUrl, TABLES[engine.name]);
        await using service = await startService({ dbUrl: address.dbUrl, hasHistory });
        await read(service, '/books?q=exact');
        await query(address.dbUrl, ROWS);

        assert.deepEqual(await read(service, '/books'), [LATE, EARLY, EXACT]);
        assert.deepEqual(await read(service, '/book/1'), LATE);
        assert.deepEqual(await read(service, '/books?sort=year'), [EARLY, EXACT, LATE]);
        assert.deepEqual(await read(service, '/books?q=late'), [LATE]);
        assert.deepEqual(await read(service, `/books?year=${YEAR_MAX}`), [LATE]);
        assert.deepEqual(await read(service, '/books?q=book'), []);
        assert.deepEqual(await read(service, '/books?sort=-title'), [LATE, EXACT, EARLY]);
        for (const id of [BEYOND, String(BigInt(ID_MAX) + 1n)])
          assert.equal((await service.fetch('GET', `/book/${id}`)).status, 404);

        const tag = (await service.fetch('GET', '/book/1')).headers.get('etag') ?? '';
        const put = await service.fetch('PUT', '/book/1', '{"title":"Later"}', { 'If-Match': tag });
        assert.deepEqual(((await put.json()) as { data: unknown }).data, { ...LATE, title: 'Later' });
        const ifMatch = put.headers.get('etag');
        const patch = await service.fetch(
          'PATCH',
          '/books',
          JSON.stringify([{ id: 1, author: 'B', ifMatch }]),
        );
        assert.deepEqual(await patch.json(), {
          status: 200,
          message: 'Books updated successfully',
          data: [{ ...LATE, title: 'Later', author: 'B' }],
        });
        const early = (await service.fetch('GET', '/book/2')).headers.get('etag') ?? '';
        assert.equal(
          (await service.fetch('DELETE', '/book/2', undefined, { 'If-Match': early })).status,
          200,
        );
        const kept = await query(address.dbUrl, 'select cast(year as text) as year from books where id = 1');
        assert.deepEqual({ ...kept[0] }, { year: BEYOND });
        // SQLite assigns ids above all others, so none is left.
        const status = engine.name === 'SQLite' ? 400 : 201;
        for (const [path, body] of [
          ['/book', '{}'],
          ['/books', '[{}]'],
        ] as const)
          assert.equal((await service.fetch('POST', path, body)).status, status);
        assert.deepEqual(await read(service, '/books?q=later'), [{ ...LATE, title: 'Later', author: 'B' }]);
        const changes = '[{"id":1,"author":"C"}]';
        assert.equal((await service.fetch('PATCH', '/books', changes)).status, 200);
        assert.equal((await service.fetch('DELETE', '/book/3')).status, 200);
        assert.deepEqual(await read(service, '/book/1'), { ...LATE, title: 'Later', author: 'C' });
      });
    }

    test('are recorded within the range, and restored so', async () => {
      await using address = await engine.createAddress();
      await query(address.dbUrl, TABLES[engine.name]);
      await using service = await startService({ dbUrl: address.dbUrl, hasHistory: true });
      await query(address.dbUrl, ROWS);
      assert.deepEqual(
        sorted(await read(service, '/changes')),
        [LATE, EARLY, EXACT].map((book) => ({ type: 'created', book })),
      );
      await query(address.dbUrl, 'delete from books where id <> 3');
      assert.deepEqual(
        sorted(await read(service, '/books/deleted')),
        [LATE, EARLY].map((book) => ({ type: 'deleted', book })),
      );
      assert.deepEqual(sorted(await read(service, '/book/2/history?limit=1')), [
        { type: 'deleted', book: EARLY },
      ]);
      const restored = await service.fetch('POST', '/book/2/restore');
      assert.deepEqual(((await restored.json()) as { data: unknown }).data, EARLY);
      assert.deepEqual(await read(service, '/book/2'), EARLY);
    });
  });
}
