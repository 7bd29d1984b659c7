import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ID_MAX } from '../../src/book/book.ts';
import { hashOf, Shards } from '../../src/store/postgres/citus/shards.ts';
import { emulateCitus } from '../../testkit/engines.ts';
import { createDatabase } from '../../testkit/postgres.ts';

// These suites run once more with the statements for Citus; the campaign `distributed` runs them on a cluster.
emulateCitus();
for (const suite of ['archive', 'book-store', 'concurrency', 'idempotency', 'list', 'many'])
  await import(`./${suite}.test.ts`);

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
