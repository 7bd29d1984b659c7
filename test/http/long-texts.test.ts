import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engines } from '../../testkit/engines.ts';
import { startService } from '../../testkit/service.ts';
import * as sql from '../../testkit/sql.ts';

const LONG = 'Ab '.repeat(10_000).trim();

for (const engine of engines) {
  test(`Longer texts that a store has are returned, found, kept by updates of other fields, and deleted, on ${engine.name}`, async () => {
    await using address = await engine.createAddress();
    await using service = await startService({ dbUrl: address.dbUrl });
    await service.fetch('POST', '/book', '{}');
    await sql.query(address.dbUrl, `insert into books (title, author, year) values ('${LONG}', 'Homer', 1)`);
    const send = async (method: string, path: string, body?: object) => {
      const response = await service.fetch(method, path, body && JSON.stringify(body));
      return [response.status, ((await response.json()) as { data: unknown }).data];
    };
    const book = (year: number) => ({ id: 2, title: LONG, author: 'Homer', year });
    assert.deepEqual(await send('GET', '/book/2'), [200, book(1)]);
    assert.deepEqual(await send('GET', '/books?q=ab&sort=title'), [200, [book(1)]]);
    assert.deepEqual(await send('PUT', '/book/2', { year: 2 }), [200, book(2)]);
    assert.deepEqual(await send('PATCH', '/books', [{ id: 2, year: 3 }]), [200, [book(3)]]);
    assert.deepEqual(await send('PUT', '/book/2', { title: LONG }), [400, null]);
    assert.deepEqual(await send('PATCH', '/books', [{ id: 2, title: LONG }]), [400, null]);
    assert.deepEqual((await send('GET', '/books'))[1], [{ id: 1, title: '', author: '', year: 0 }, book(3)]);
    assert.deepEqual(await send('DELETE', '/book/2'), [200, null]);
  });
}

for (const engine of engines) {
  test(`A list of 36 MB in texts of 300 kB, as an older store may have, is returned whole and in pages, on ${engine.name}`, async () => {
    await using address = await engine.createAddress();
    await using service = await startService({ dbUrl: address.dbUrl });
    await service.fetch('POST', '/book', '{}');
    const values = Array.from({ length: 10 }, () => `('${'x'.repeat(300_000)}', '', 1)`).join();
    for (let count = 0; count < 12; count++)
      await sql.query(address.dbUrl, `insert into books (title, author, year) values ${values}`);
    const read = async (path: string) => {
      const response = await service.fetch('GET', path);
      assert.equal(response.status, 200);
      const { data } = (await response.json()) as { data: { id: number; title: string }[] };
      return { ids: data.map(({ id }) => id), next: /<(.*)>/.exec(response.headers.get('link') ?? '')?.[1] };
    };
    const all = Array.from({ length: 121 }, (_, index) => index + 1);
    assert.deepEqual((await read('/books')).ids, all);
    const paged: number[] = [];
    for (let path: string | undefined = '/books?limit=1000'; path !== undefined; ) {
      const { ids, next } = await read(path);
      paged.push(...ids);
      path = next;
    }
    assert.deepEqual(paged, all);
  });
}
