import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Client } from 'pg';
import { YEAR_MAX } from '../../src/book/book.ts';
import { CommonTrigrams } from '../../src/search/postgres/common-trigrams.ts';
import {
  selectiveTrigrams,
  type TrigramStatistics,
  trigramHashesOf,
} from '../../src/search/postgres/trigrams.ts';
import { createDatabase } from '../../testkit/postgres.ts';
import { openStoreAt, searchAll } from '../../testkit/stores.ts';

const BY_ID = { sort: 'id', isDescending: false, yearFrom: -YEAR_MAX, yearTo: YEAR_MAX } as const;

describe('The trigrams that a search looks up in PostgreSQL', () => {
  for (const schema of ['public', 'Our "Schema"'])
    test(`are the rarest of each word by the statistics, and all without these; the matches are the same, in the schema ${schema}`, async () => {
      await using database = await createDatabase();
      const name = `"${schema.replaceAll('"', '""')}"`;
      await database.query(
        `create schema if not exists ${name};
         alter database ${new URL(database.url).pathname.slice(1)} set search_path = ${name}`,
      );
      const counts = async () => {
        // Another store has not read the statistics before.
        await using store = await openStoreAt(database.url);
        const count = async (q: string) => (await searchAll(store, { ...BY_ID, q }, 100)).length;
        return [await count('wonderful'), await count('wonderful 5'), await count('wond 77')];
      };
      await (await openStoreAt(database.url))[Symbol.asyncDispose]();
      // Of the trigrams of “wonderful”, those of “wonder” are in all books.
      await database.query(
        `insert into books (title, author, year)
         select 'Wonder' || case when i % 100 = 0 then 'ful' else '' end || ' ' || i, '', i from generate_series(1, 1000) as i`,
      );
      assert.deepEqual(await counts(), [10, 1, 11]);
      const trigrams = ['wonderful', 'ful'].map(trigramHashesOf);
      // Autovacuum analyzes a table some time after many changes.
      await database.query('alter table book_search set (autovacuum_enabled = false)');
      await database.query(
        `delete from pg_statistic where starelid = 'book_search'::regclass and stainherit = false`,
      );
      const unknown = await readStatistics(database.url);
      assert.equal(unknown.frequencies.size, 0);
      assert.deepEqual(new Set(selectiveTrigrams(trigrams, unknown)), new Set(trigrams.flat()));
      await database.query('analyze book_search');
      const statistics = await readStatistics(database.url);
      assert.equal(statistics.books, 1_000);
      const common = trigramHashesOf('wonder');
      assert.ok(common.every((trigram) => statistics.frequencies.get(trigram) === 1));
      const rarest = selectiveTrigrams(trigrams, statistics);
      assert.ok(rarest.length > 0 && rarest.length < trigrams.flat().length);
      assert.ok(rarest.every((trigram) => !common.includes(trigram)));
      assert.deepEqual(await counts(), [10, 1, 11]);
    });
});

async function readStatistics(url: string): Promise<TrigramStatistics> {
  const client = new Client(url);
  await client.connect();
  try {
    return await new CommonTrigrams().statistics(client);
  } finally {
    await client.end();
  }
}
