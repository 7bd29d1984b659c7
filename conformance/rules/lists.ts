import { expectBooks, expectSame } from '../expect.ts';
import { type Rule, rulesOf } from '../rule.ts';
import type { Service } from '../service.ts';

/** Decisions on the list. The store may have other books, and other clients may write. */
export const listRules: readonly Rule[] = [
  ...rulesOf(
    { section: 'Lists', group: 'decision' },
    {
      'data is an array, [] without books': async (service) => {
        expectBooks(await service.get('/books'));
      },
      'books are ordered by id': async (service) => {
        const books = [];
        for (const title of ['c', 'a', 'b']) books.push(await service.createBook({ title }));
        for (const book of books) await service.put(`/book/${book.id}`, { year: -book.id });
        const ids = expectBooks(await service.get('/books')).map((book) => book.id);
        const misplaced = ids.findIndex((id, index) => index > 0 && id <= (ids[index - 1] ?? 0));
        expectSame('GET /books: the first id not above the one before', ids[misplaced], undefined);
      },
      'a book that exists during the whole request appears exactly once, while others are created and deleted':
        async (service) => {
          const books = await Promise.all(
            Array.from({ length: 20 }, (_, year) => service.createBook({ year })),
          );
          const created = Array.from({ length: 10 }, () => service.absentId());
          const lists = await Promise.all([
            service.get('/books'),
            service.get('/books'),
            service.get('/books'),
          ]);
          await Promise.all(created);
          const ids = new Set(books.map((book) => book.id));
          for (const list of lists) {
            const seen = expectBooks(list).filter((book) => ids.has(book.id));
            expectSame(
              'GET /books: our books in it',
              seen.map((book) => book.id),
              [...ids].toSorted((a, b) => a - b),
            );
          }
        },
    },
  ),
  ...rulesOf(
    { section: 'Lists', group: 'decision', needs: 'pages' },
    {
      'a walk of pages of any size gives each book once, in order of id; no page has more than limit': async (
        service,
      ) => {
        const ids: number[] = [];
        for (let year = 1; year <= 7; year++) ids.push((await service.createBook({ year })).id);
        // A page may end at a number of bytes, too: those with the longest texts have 40 KiB each as JSON.
        for (let year = 1; year <= 40; year++)
          ids.push((await service.createBook({ title: ESCAPED, author: LONGEST, year })).id);
        for (const limit of [1, 2, 3, 6, 7, 8, 46, 1_000]) {
          const walked = await walk(service, ids, limit);
          expectSame(`the pages of GET /books?limit=${limit}: our books in them`, walked, ids);
        }
        const listed = expectBooks(await service.get('/books')).map(({ id }) => id);
        const ours = listed.filter((id) => ids.includes(id));
        expectSame('GET /books: our books in it', ours, ids);
      },
      'a page that ends with the last book has no Link': async (service) => {
        const { id } = await service.createBook();
        const page = await service.get(`/books?limit=1000&from=${id}`);
        expectSame(
          'GET /books?limit=1000 from the last book: Link',
          page.headers.get('link') ?? undefined,
          undefined,
        );
      },
    },
  ),
];

/** The longest text in UTF-8, and one that is six times as long as JSON. */
const LONGEST = '📖'.repeat(4_096);
const ESCAPED = '\u0001'.repeat(4_096);

/** The ids of ours that the pages from our first book up to our last one have. */
async function walk(service: Service, ids: readonly number[], limit: number): Promise<number[]> {
  const [first = 0, last = 0] = [ids[0], ids.at(-1)];
  const met: number[] = [];
  let path: string | undefined = `/books?limit=${limit}&from=${first}`;
  while (path !== undefined && (met.at(-1) ?? 0) <= last) {
    const page = await service.get(path);
    const books = expectBooks(page).map(({ id }) => id);
    expectSame(`${path}: whether it has at most ${limit} books`, books.length <= limit, true);
    met.push(...books);
    path = /^<(.*)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
  }
  return met.filter((id) => ids.includes(id));
}
