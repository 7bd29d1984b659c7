import { expectBooks, expectSame } from '../expect.ts';
import { rulesOf } from '../rule.ts';

/** Decisions on the list. The store may have other books, and other clients may write. */
export const listRules = rulesOf(
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
);
