import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { YEAR_MAX } from '../../src/book/book.ts';
import type { Book } from '../../src/book/contract.ts';
import type { SearchQuery } from '../../src/search/book-search.ts';
import { engines } from '../../testkit/engines.ts';
import { compareKeys, keyOf } from '../../testkit/folding-reference.ts';
import { createMany, openStoreAt, type SearchableStore, textOf } from '../../testkit/stores.ts';

const BOOKS = 1_200;
/** The books that change all the time. */
const CHANGING = 60;
const PAGES = 6;

const ALL = { yearFrom: -YEAR_MAX, yearTo: YEAR_MAX };
const BY_ID = { ...ALL, sort: 'id', isDescending: false } as const;

type Found = readonly Book[];
const isSorted = (books: Found, compare: (one: Book, other: Book) => number) =>
  books.every((book, index) => index === 0 || compare(books[index - 1] as Book, book) < 0);
const byTitle = (one: Book, other: Book) =>
  compareKeys(keyOf(one.title), keyOf(other.title)) || one.id - other.id;
const byYear = (one: Book, other: Book) => one.year - other.year || one.id - other.id;

/** Queries, the limits of their pages, what is true of each page at any moment, and whether all books match. */
const QUERIES: readonly [SearchQuery, number, (books: Found) => boolean, boolean?][] = [
  [{ ...BY_ID, title: 'zzmatch' }, 50, (books) => books.every(({ title }) => title.includes('zzmatch'))],
  [{ ...BY_ID, q: 'zzm' }, 50, (books) => books.every(({ title }) => title.includes('zzmatch'))],
  [{ ...BY_ID, author: 'zzauthor' }, 50, (books) => books.every(({ author }) => author.includes('zzauthor'))],
  [{ ...BY_ID, yearFrom: 1999, yearTo: 1999 }, 50, (books) => books.every(({ year }) => year === 1999)],
  [{ ...BY_ID, ...ALL, sort: 'title' }, 1_000, (books) => isSorted(books, byTitle), true],
  [
    { ...BY_ID, sort: 'year', isDescending: true },
    1_000,
    (books) => isSorted(books.toReversed(), byYear),
    true,
  ],
];

for (const engine of engines) {
  describe(`A page of a search while books change, on ${engine.name}`, () => {
    for (const isElsewhere of [false, true]) {
      const writer = isElsewhere ? 'another store' : 'the same store';
      test(`is of one moment, when ${writer} writes`, async () => {
        await using address = await engine.createAddress();
        await using store = await openStoreAt(address.dbUrl);
        await using other = await openStoreAt(address.dbUrl);
        await createMany(
          store,
          Array.from({ length: BOOKS }, (_, index) => ({ title: `T${index}`, author: '', year: index })),
        );
        while ((await store.search({ ...BY_ID, q: 'absent' }, 1)).more !== 'no');
        const stop = new AbortController();
        const writers = Array.from({ length: CHANGING }, (_, index) =>
          toggle(isElsewhere ? other : store, index * 20 + 1, stop.signal),
        );
        const faults: string[] = [];
        try {
          for (let page = 0; page < PAGES; page++) {
            for (const [query, limit, isOfOneMoment, isOfAll = false] of QUERIES) {
              const { books, isCut } = await readPage(store, query, limit);
              const isWhole = !isOfAll || isCut || books.length === limit;
              if (!isWhole || !isOfOneMoment(books)) faults.push(JSON.stringify(query));
              if (new Set(books.map(({ id }) => id)).size < books.length) faults.push('a book twice');
            }
          }
        } finally {
          stop.abort();
        }
        const changes = (await Promise.all(writers)).reduce((sum, count) => sum + count, 0);
        assert.ok(changes > CHANGING, `${changes} changes`);
        assert.deepEqual(
          faults,
          [],
          `${faults.length} of ${PAGES * QUERIES.length} pages, ${changes} changes`,
        );
      });
    }
  });
}

/** Changes a book until the signal is aborted. @returns how many times */
async function toggle(store: SearchableStore, id: number, signal: AbortSignal): Promise<number> {
  let round = 0;
  for (; !signal.aborted; round++) {
    const isOdd = (round + id) % 2 === 1;
    await store.update(id, {
      title: isOdd ? `zzmatch ${round}` : `other ${(round * 7) % 100}`,
      author: isOdd ? 'zzauthor' : '',
      year: isOdd ? 1999 : 10 * round,
    });
  }
  return round;
}

/** Reads a page, which is cut if it took too long. */
async function readPage(store: SearchableStore, query: SearchQuery, limit: number) {
  let page = await store.search(query, limit);
  while (page.more === 'unknown' && page.count === 0) page = await store.search(query, limit, page.last);
  return { books: JSON.parse(`[${textOf(page)}]`) as Book[], isCut: page.more === 'unknown' };
}
