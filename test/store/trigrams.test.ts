import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { YEAR_MAX } from '../../src/book/book.ts';
import { Parameters } from '../../src/search/parameters.ts';
import { rarestTrigrams, trigramHashesOf } from '../../src/search/postgres/trigrams.ts';
import { createDatabase } from '../../testkit/postgres.ts';
import { openStoreAt } from '../../testkit/stores.ts';

const BY_ID = { sort: 'id', isDescending: false, yearFrom: -YEAR_MAX, yearTo: YEAR_MAX } as const;

describe('The trigrams that a search looks up in PostgreSQL', () => {
  test('are the rarest two of each word by the statistics, and any without these; the matches are the same', async () => {
    await using database = await createDatabase();
    await using store = await openStoreAt(database.url);
    // Of the trigrams of “wonderful”, those of “wonder” are in all books.
    await database.query(
      `insert into books (title, author, year)
       select 'Wonder' || case when i % 100 = 0 then 'ful' else '' end || ' ' || i, '', i from generate_series(1, 1000) as i`,
    );
    const count = async (q: string) => (await store.search({ ...BY_ID, q }, 100)).count;
    assert.equal(await count('wonderful'), 10);
    await database.query('analyze book_search');
    assert.equal(await count('wonderful'), 10);
    assert.equal(await count('wonderful 5'), 1);
    assert.equal(await count('wond 77'), 11);
    const select = async (...words: string[]) => {
      const parameters = new Parameters('$');
      const sql = `select ${rarestTrigrams(words.map(trigramHashesOf), parameters)}::text[] as trigrams`;
      return (await database.query<{ trigrams: string[] }>(sql, parameters.values))[0]?.trigrams.map(Number);
    };
    const common = trigramHashesOf('wonder');
    const found = (await select('wonderful', 'ful')) ?? [];
    assert.ok(found.length > 1);
    assert.ok(found.every((trigram) => !common.includes(trigram)));
    await database.query(
      `delete from pg_statistic where starelid = 'book_search'::regclass and stainherit = false`,
    );
    assert.equal((await select('wonderful', 'river'))?.length, 4);
    assert.equal(await count('wonderful 5'), 1);
  });
});
