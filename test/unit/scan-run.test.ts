import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { YEAR_MAX } from '../../src/book/book.ts';
import type { BookPosition, SearchQuery } from '../../src/search/book-search.ts';
import { needlesOf } from '../../src/search/folding.ts';
import { ScanRun } from '../../src/search/scan-run.ts';
import type { ReadBook, ReadBooks } from '../../src/search/snapshot.ts';
import { expectedBooks, type Parameters } from '../../testkit/search-reference.ts';

const ALL = { yearFrom: -YEAR_MAX, yearTo: YEAR_MAX };

describe('A search without an index', () => {
  test('finds what the reference does, in each order, from each position, page by page', async () => {
    const books = Array.from({ length: 60 }, (_, index) => book(index + 1));
    for (const sort of ['id', '-id', 'title', '-title', 'author', '-year', 'year'])
      for (const q of [undefined, 'river'])
        for (const limit of [7, 100]) {
          const parameters: Parameters = { sort, ...(q !== undefined && { q }) };
          const expected = expectedBooks(books, parameters).map(({ id }) => id);
          const query = queryOf(sort, q);
          assert.deepEqual(await walk(query, limit, readerOf(books)), expected, `${sort} ${q} ${limit}`);
          const skip = 11;
          const skipped = await walk({ ...query, skip }, 5, readerOf(books));
          assert.deepEqual(skipped, expected.slice(skip));
          assert.equal(await countAll(query, readerOf(books)), expected.length);
        }
  });

  test('finds twins', async () => {
    const books = Array.from({ length: 60 }, (_, index) => ({ ...book(index + 1), title: `${index % 35}` }));
    for (const filter of [{}, { author: '3' }]) {
      const query: SearchQuery = { ...queryOf('twins', undefined), ...filter };
      const expected = expectedBooks(books, { ...filter, twins: 'true' }).map(({ id }) => id);
      assert.ok(expected.length > 1);
      for (const limit of [1, 7, 100]) assert.deepEqual(await walk(query, limit, readerOf(books)), expected);
      assert.deepEqual(await walk({ ...query, skip: 1 }, 5, readerOf(books)), expected.slice(1));
      assert.equal(await countAll(query, readerOf(books)), expected.length);
    }
  });

  test('finds the twins among many books with the same words', async () => {
    const books = Array.from({ length: 600 }, (_, index) => ({
      ...book(index + 1),
      title: 'The same',
      author: '',
      year: 2 * index + 10,
    }));
    const twins = queryOf('twins', undefined);
    assert.equal(await countAll(twins, readerOf(books)), 0);
    books.push({ ...book(601), title: 'The same', author: '', year: 1_009 });
    assert.deepEqual(await walk(twins, 10, readerOf(books)), [500, 501, 601]);
    books.push({ ...book(602), title: 'The same', author: '', year: 0 });
    assert.equal(await countAll(twins, readerOf(books)), 602);
  });

  test('sorts up to 200,000 books', async () => {
    const query = queryOf('year', undefined);
    assert.equal((await new ScanRun(query, undefined, booksOf(200_000)).find(5, undefined)).ids.length, 5);
    await assert.rejects(new ScanRun(query, undefined, booksOf(200_001)).find(5, undefined), {
      name: 'StoreUnavailable',
      reason: 'too many books to sort',
    });
  });
});

/** Reads 50,000 of so many books at a time. */
function booksOf(count: number): ReadBooks {
  let left = count;
  return async () => {
    const books = Array.from({ length: Math.min(left, 50_000) }, () => book(left--));
    return { books, isEnd: left === 0 };
  };
}

function book(id: number): ReadBook {
  const title = `${(id * 37) % 61} ${id % 3 === 0 ? 'River' : 'Émile'}`;
  return { id, title, author: `Author ${id % 7}`, year: id % 5, bytes: 20 };
}

function queryOf(sort: string, q: string | undefined): SearchQuery {
  const key = sort.replace('-', '') as SearchQuery['sort'];
  return { ...ALL, sort: key, isDescending: sort.startsWith('-'), ...(q !== undefined && { q }) };
}

/** Reads ten books at a time. */
function readerOf(books: readonly ReadBook[]): ReadBooks {
  return async ({ isDescending }, after) => {
    const sign = isDescending ? -1 : 1;
    const following = books
      .filter(({ id }) => !after || sign * (id - after.id) > 0)
      .toSorted((one, other) => sign * (one.id - other.id));
    return { books: following.slice(0, 10), isEnd: following.length < 10 };
  };
}

/** A call may end early, as its time is over. */
async function walk(query: SearchQuery, limit: number, read: ReadBooks): Promise<number[]> {
  const ids: number[] = [];
  let skip = query.skip ?? 0;
  for (let after: BookPosition | undefined; ; ) {
    const page = await new ScanRun({ ...query, skip }, needlesOf(query), read).find(limit, after);
    assert.ok(page.ids.length <= limit);
    ids.push(...page.ids);
    if (page.more === 'no') return ids;
    ({ last: after, skip } = page);
  }
}

async function countAll(query: SearchQuery, read: ReadBooks): Promise<number> {
  let total = 0;
  let after: BookPosition | undefined;
  do {
    const part = await new ScanRun(query, needlesOf(query), read).count(after);
    total += part.count;
    after = part.last;
  } while (after !== undefined);
  return total;
}
