import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ID_MAX } from '../../src/book/book.ts';
import { type ListPage, PAGE_BYTES_MAX, StoreUnavailable } from '../../src/book/book-store.ts';
import { Inserts } from '../../src/store/postgres/batches/inserts.ts';
import { runAlone, runTogether } from '../../src/store/postgres/citus/batches.ts';
import { Citus } from '../../src/store/postgres/citus/citus.ts';
import { CitusDatabase } from '../../src/store/postgres/citus/citus-database.ts';
import { hashOf, Shards } from '../../src/store/postgres/citus/shards.ts';
import { connect } from '../../src/store/postgres/connection/connect.ts';
import { parseConninfo } from '../../src/store/postgres/connection/conninfo.ts';
import { type ColumnsRow, renderPage, SELECT_PAGE } from '../../src/store/postgres/pages.ts';
import { ConnectionPool } from '../../src/store/postgres/pool/pool.ts';
import { createDatabase } from '../../testkit/postgres.ts';
import { createMany, openStoreAt } from '../../testkit/stores.ts';

test('Pages of a distributed table have as many books as requested, and tell whether others follow', async () => {
  await using database = await createDatabase();
  await using store = await openStoreAt(database.url);
  await createMany(
    store,
    Array.from({ length: 7 }, (_, year) => ({ title: 'Dune', author: '', year })),
  );
  for (const id of [3, 4]) await store.delete(id);
  const { server, client } = await connect(parseConninfo(database.url));
  await client.end();
  const distributed = new CitusDatabase(
    new ConnectionPool(server, { connectionsMax: 1, statementTimeoutMs: 60_000 }),
    new Shards([-(2 ** 31), 0]),
  );
  const requests = [
    [-ID_MAX, 2],
    [2, 2],
    [2, 3],
    [7, 5],
  ] as const;
  const columns = [requests.map(([after]) => after), requests.map(([, books]) => books)];
  const rows = await distributed.queryBatch<ColumnsRow>(SELECT_PAGE, columns);
  const pages = rows.map((row) => renderPage(row, PAGE_BYTES_MAX));
  const expected = await Promise.all(requests.map(([after, books]) => store.list(after, { books })));
  assert.deepEqual(pages.map(textOf), expected.map(textOf));
  await distributed.close();
});

test('A key on Citus keeps what it created, for one book and for many', async () => {
  await using database = await createDatabase();
  await using _ = await openStoreAt(database.url);
  const { server, client } = await connect(parseConninfo(database.url));
  await client.end();
  const distributed = new CitusDatabase(
    new ConnectionPool(server, { connectionsMax: 2, statementTimeoutMs: 60_000 }),
    new Shards([-(2 ** 31), 0]),
  );
  const inserts = new Inserts(distributed, distributed);
  const books = ['one', 'two', 'three'].map((key, year) => ({
    fields: { title: `"${key}"`, author: '', year },
    key,
  }));
  const array = Buffer.from(JSON.stringify(books.map(({ fields }) => fields)));
  const first = await inserts.createOnce(books.slice(0, 2));
  const many = Buffer.concat((await inserts.createMany([array], 'many')) ?? []);
  await database.query("update books set title = 'Emma'");

  const again = await inserts.createOnce(books);
  assert.deepEqual(again.slice(0, 2), first);
  assert.deepEqual(again[2], { id: again[2]?.id, ...books[2]?.fields });
  assert.deepEqual(Buffer.concat((await inserts.createMany([array], 'many')) ?? []), many);
  assert.equal(await inserts.createMany([array, array], 'many'), undefined);
  assert.deepEqual(await inserts.createOnce(books.slice(0, 1).map((book) => ({ ...book, key: 'many' }))), [
    undefined,
  ]);
  await distributed.close();
});

describe('The shards of Citus', () => {
  test('are selected by the hash of PostgreSQL', async () => {
    await using database = await createDatabase();
    const ids = [0, 1, -1, 2 ** 31, -(2 ** 31), 2 ** 32 - 1, 2 ** 32, -(2 ** 32) - 1, ID_MAX, -ID_MAX];
    for (let id = 3; id < ID_MAX; id = id * 5 + 1) ids.push(id, -id);
    const hashes = await database.query<{ hash: number }>(
      'select hashint8(id) as hash from unnest($1::bigint[]) with ordinality as given (id, position) order by position',
      [ids],
    );
    assert.deepEqual(
      ids.map(hashOf),
      hashes.map(({ hash }) => hash),
    );
  });

  test('have enough ids of one of them among the ids that are drawn, usually', () => {
    for (const count of [1, 2, 32]) {
      const shards = new Shards(
        Array.from({ length: count }, (_, index) => (index * 2 ** 32) / count - 2 ** 31),
      );
      for (const rows of [1, 2, 8, 64, 1_000]) {
        let found = 0;
        for (let first = 1; first < 20_000_000; first += 1_000_003) {
          const ids = Array.from({ length: shards.idsToDraw(rows) }, (_, index) => first + index);
          const selected = shards.selectOfOne(ids, rows);
          if (!selected) continue;
          assert.deepEqual(
            [selected.length, new Set(selected.map((id) => shards.shardOf(id))).size],
            [rows, 1],
          );
          found++;
        }
        assert.ok(found >= 5, `${rows} ids of ${count} shards: ${found} times`);
      }
    }
  });
});

test('On Citus, a few finds run by themselves, and many together', async () => {
  const batches: string[] = [];
  const finds = new Citus(new Shards([0])).batchesOf('finds', runOf({}, batches));
  await finds.run(['a', 'b']);
  await finds.run(Array.from({ length: 17 }, () => 'c'));
  assert.deepEqual(batches, ['a', 'b', 'c'.repeat(17)]);
});

describe('While a worker of Citus is unavailable', () => {
  const WORKER_LOST = new StoreUnavailable('08006');
  const COORDINATOR_LOST = new StoreUnavailable('ECONNREFUSED');

  test('changes run by themselves, and only those of its books fail', async () => {
    const batches: string[] = [];
    const run = runAlone(runOf({ b: WORKER_LOST, c: new Error('defect') }, batches));
    assert.deepEqual(await run(['a', 'b', 'c', 'd']), ['A', WORKER_LOST, new Error('defect'), 'D']);
    assert.deepEqual(batches, ['a', 'b', 'c', 'd']);
  });

  test('reads run together, and those of other books are repeated', async () => {
    const batches: string[] = [];
    const run = runTogether(runOf({ b: WORKER_LOST }, batches));
    assert.deepEqual(await run(['a', 'c']), ['A', 'C']);
    assert.deepEqual(await run(['a', 'b']), ['A', WORKER_LOST]);
    assert.deepEqual(batches, ['ac', 'ab', 'a', 'b']);
  });

  test('and the coordinator, too, all fail at once', async () => {
    const run = runOf({ a: WORKER_LOST, b: COORDINATOR_LOST });
    await assert.rejects(runAlone(run)(['a', 'b', 'c']), COORDINATOR_LOST);
    await assert.rejects(runTogether(run)(['b', 'c']), COORDINATOR_LOST);
  });
});

/** Returns items in upper case; fails if there is one of these. */
function runOf(failures: Readonly<Record<string, Error>>, batches: string[] = []) {
  return async (items: readonly string[]) => {
    batches.push(items.join(''));
    const failure = items.map((item) => failures[item]).find((error) => error !== undefined);
    if (failure) throw failure;
    return items.map((item) => item.toUpperCase());
  };
}

function textOf({ json, last }: ListPage): unknown[] {
  return [Buffer.from(json).toString(), last];
}
