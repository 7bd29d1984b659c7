import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ID_MAX, YEAR_MAX } from '../../src/book/book.ts';
import type { Book } from '../../src/book/contract.ts';
import type { BookPosition, SearchQuery } from '../../src/search/book-search.ts';
import { RANGE_IDS, RANGES } from '../../src/search/postgres/id-ranges.ts';
import { createDatabase } from '../../testkit/postgres.ts';
import { countAll, openStoreAt, type SearchableStore, searchAll, textOf } from '../../testkit/stores.ts';

const ALL = { sort: 'id', isDescending: false, yearFrom: -YEAR_MAX, yearTo: YEAR_MAX } as const;

/** The first and the last ids of ranges, and some in between. */
const DENSE = [0, 1, 2, 5, 6, 60]
  .flatMap((range) => [0, 1, 77, RANGE_IDS - 1].map((id) => range * RANGE_IDS + id))
  .flatMap((id) => [id + 1, id + 2 * RANGE_IDS + 9]);
/** So far after the first id that a book can have that the ranges between are more than there are numbers. */
const LATE = DENSE.map((id) => id + 3 * RANGES * RANGE_IDS);
/** Some of the same number, as this begins again. */
const SCATTERED = [
  ...DENSE,
  ...DENSE.map((id) => id + RANGES * RANGE_IDS),
  3 * RANGES * RANGE_IDS + 5,
  2 ** 40,
  ID_MAX,
];

const QUERIES: readonly [Partial<SearchQuery>, (number: number) => boolean][] = [
  [{ q: 'river' }, () => true],
  [{ q: 'seventh' }, (number) => number % 7 === 0],
  [{ q: 'river seventh', yearFrom: 1, yearTo: 2 }, (number) => number % 7 === 0 && inYears(number)],
  [{ title: 'venth ri' }, (number) => number % 7 === 0],
  [{ yearFrom: 1, yearTo: 2 }, inYears],
  [{ q: 'absent' }, () => false],
  [{ yearFrom: 3, yearTo: 2 }, () => false],
];

function inYears(number: number): boolean {
  return number % 5 === 1 || number % 5 === 2;
}

describe('The ranges of ids in the index in PostgreSQL', () => {
  for (const [name, ids] of Object.entries({
    'next to each other': DENSE,
    late: LATE,
    'far apart': SCATTERED,
  }))
    for (const isAnalyzed of [false, true])
      test(`of books ${name} have each book once, ${isAnalyzed ? 'with' : 'without'} statistics, in pages and counts`, async () => {
        await using database = await createDatabase();
        const sorted = [...new Set(ids)].toSorted((one, other) => one - other);
        const books = sorted.map((id, number) => ({
          id,
          title: number % 7 === 0 ? 'The Seventh River' : 'The River',
          year: number % 5,
        }));
        await (await openStoreAt(database.url))[Symbol.asyncDispose]();
        await database.query(
          `insert into books (id, title, author, year)
           select id, title, '', year from json_to_recordset($1) as books (id bigint, title text, year bigint)`,
          [JSON.stringify(books)],
        );
        await (await openStoreAt(database.url)).search({ ...ALL, q: 'river' }, 1);
        await database.query(`
          alter table book_search set (autovacuum_enabled = false);
          ${isAnalyzed ? 'analyze book_search' : "delete from pg_statistic where starelid = 'book_search'::regclass"}`);
        await using store = await openStoreAt(database.url);
        for (const [condition, isMatch] of QUERIES) {
          const matches = sorted.filter((_, number) => isMatch(number));
          const query = { ...ALL, ...condition };
          const label = JSON.stringify(query);
          assert.deepEqual(await readIds(store, query), matches, label);
          assert.deepEqual(
            await readIds(store, { ...query, isDescending: true }),
            matches.toReversed(),
            label,
          );
          for (const id of [-ID_MAX - 1, 0])
            assert.deepEqual(await readIds(store, query, id), matches, label);
          for (const id of [sorted.at(-1) as number, ID_MAX])
            assert.deepEqual(await readIds(store, query, id), [], label);
          assert.deepEqual(
            await readIds(store, { ...query, isDescending: true }, ID_MAX + 1),
            matches.toReversed(),
            label,
          );
          assert.deepEqual(await readIds(store, { ...query, isDescending: true }, 1), [], label);
          assert.equal(await countAll(store, query), matches.length, label);
          const byTitle = (await readIds(store, { ...query, sort: 'title' })).toSorted(
            (one, other) => one - other,
          );
          assert.deepEqual(byTitle, matches, label);
          const skipped = await searchAll(store, { ...query, skip: 9 }, 1_000);
          assert.equal(skipped.length, Math.max(0, matches.length - 9), label);
        }
      });

  test('have each book once where a word is in no book of some ranges, and in most of those of the next ones', async () => {
    await using database = await createDatabase();
    await (await openStoreAt(database.url))[Symbol.asyncDispose]();
    await database.query(`
      insert into books (id, title, author, year)
      select range * ${RANGE_IDS} + number, 'The Lake', '', 0
      from generate_series(0, 8) as range cross join generate_series(1, 700) as number
      union all
      select range * ${RANGE_IDS} + number, 'The River', '', 0
      from generate_series(9, 12) as range cross join generate_series(1, 12000) as number`);
    await using store = await openStoreAt(database.url);
    const matches = [9, 10, 11, 12].flatMap((range) =>
      Array.from({ length: 12_000 }, (_, number) => range * RANGE_IDS + number + 1),
    );
    const query = { ...ALL, q: 'river' };
    assert.deepEqual(await readIds(store, query, undefined, 1_000), matches);
    const backwards = { ...query, isDescending: true, q: 'lake' };
    assert.equal((await readIds(store, backwards, undefined, 1_000)).length, 9 * 700);
    const skipped = await readIds(store, { ...query, skip: 30_000 }, undefined, 1_000);
    assert.deepEqual(skipped, matches.slice(30_000));
    assert.equal(await countAll(store, query), matches.length);
  });

  test('have few changes that a search must read for each of them', async () => {
    await using database = await createDatabase();
    await using store = await openStoreAt(database.url);
    await store.search({ ...ALL, q: 'river' }, 1);
    await database.query('create extension pgstattuple');
    for (let year = 1; year <= 3; year++) {
      await database.query(
        `insert into books (title, author, year) select 'The River ' || number, '', ${year} from generate_series(1, 400) as number`,
      );
      assert.equal((await searchAll(store, { ...ALL, q: 'river', yearFrom: year }, 400)).length, 400);
      const [{ pages } = { pages: Number.NaN }] = await database.query<{ pages: number }>(
        `select pending_pages as pages from pgstatginindex('book_search_trigrams')`,
      );
      assert.ok(pages <= 8, `${pages} pages`);
    }
  });
});

/** The ids of all pages of a query after an id. */
async function readIds(
  store: SearchableStore,
  query: SearchQuery,
  after?: number,
  limit = 7,
): Promise<number[]> {
  const ids: number[] = [];
  let { skip = 0 } = query;
  let position: BookPosition | undefined = after === undefined ? undefined : { key: after, id: after };
  for (;;) {
    const page = await store.search({ ...query, skip }, limit, position);
    ids.push(...(JSON.parse(`[${textOf(page)}]`) as Book[]).map(({ id }) => id));
    if (page.more === 'no') return ids;
    position = page.last;
    skip = page.skip;
  }
}
