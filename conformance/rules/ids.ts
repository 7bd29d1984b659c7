import { expectBook, expectNull, expectSame } from '../expect.ts';
import { rulesOf } from '../rule.ts';

/** What is decided about the `{id}` of a path, and about the ids that the service gives out. */
export const idRules = rulesOf(
  { section: 'Ids', group: 'decision' },
  {
    '404 Book not found when {id} is not digits alone, also when a lenient parser would find a book': async (
      service,
    ) => {
      const { id } = await service.createBook();
      const ids = [
        'abc',
        '-1',
        '1.5',
        '%zz',
        '%',
        'NaN',
        'null',
        '%00',
        '%ff',
        '%F0%9F%93%96',
        "1'--",
        ';',
        '*',
      ];
      const nearly = [
        `${id}x`,
        `-${id}`,
        `+${id}`,
        `${id}.0`,
        `${id}e0`,
        `%20${id}`,
        `${id}%0a`,
        `${id},${id}`,
      ];
      for (const text of [...ids, ...nearly]) {
        expectNull(await service.get(`/book/${text}`), 404, 'Book not found');
        expectNull(await service.put(`/book/${text}`, { title: 'a' }), 404, 'Book not found');
        expectNull(await service.delete(`/book/${text}`), 404, 'Book not found');
      }
      expectBook(await service.get(`/book/${id}`), 200, 'Book retrieved successfully');
    },
    '404 Book not found when {id} is larger than any id': async (service) => {
      const { id } = await service.createBook();
      const wrapped = [64n, 32n].map((bits) => String(2n ** bits + BigInt(id)));
      const ids = [
        '0',
        '9007199254740992',
        '9223372036854775808',
        '9'.repeat(400),
        '1'.repeat(10_000),
        ...wrapped,
      ];
      for (const text of ids) {
        expectNull(await service.get(`/book/${text}`), 404, 'Book not found');
        expectNull(await service.put(`/book/${text}`, { title: 'a' }), 404, 'Book not found');
        expectNull(await service.delete(`/book/${text}`), 404, 'Book not found');
      }
      expectBook(await service.get(`/book/${id}`), 200, 'Book retrieved successfully');
    },
    'an {id} may have leading zeros': async (service) => {
      const book = await service.createBook();
      expectBook(await service.get(`/book/000${book.id}`), 200, 'Book retrieved successfully', book);
    },
    'the token is checked before {id}': async (service) => {
      for (const id of ['abc', '%zz', '9007199254740992']) {
        const path = `/book/${id}`;
        expectNull(await service.sendWithoutToken('GET', path), 401, 'Authorization token required');
        const invalid = await service.send('DELETE', path, { headers: { Authorization: 'nonsense' } });
        expectNull(invalid, 401, 'Invalid token');
      }
    },
    '404 Book not found when DELETE finds no book': async (service) => {
      const { id } = await service.createBook();
      expectNull(await service.delete(`/book/${id}`), 200, 'Book deleted successfully');
      expectNull(await service.delete(`/book/${id}`), 404, 'Book not found');
    },
    'of several concurrent DELETEs exactly one succeeds': async (service) => {
      const { id } = await service.createBook();
      const answers = await Promise.all(Array.from({ length: 8 }, () => service.delete(`/book/${id}`)));
      const statuses = answers.map((answer) => answer.status).toSorted((a, b) => a - b);
      expectSame(`DELETE /book/${id}, 8 times`, statuses, [200, ...Array.from({ length: 7 }, () => 404)]);
    },
    'an id is never reused, even after its book was deleted': async (service) => {
      let last = await service.absentId();
      for (let round = 0; round < 5; round++) {
        const id = await service.absentId();
        expectSame(`id ${id} is above ${last}, which was deleted before`, id > last, true);
        last = id;
      }
    },
    'books created concurrently get distinct ids': async (service) => {
      const books = await Promise.all(Array.from({ length: 32 }, (_, year) => service.createBook({ year })));
      expectSame('different ids of 32 books', new Set(books.map((book) => book.id)).size, 32);
      const [book] = books;
      if (book) expectBook(await service.get(`/book/${book.id}`), 200, 'Book retrieved successfully', book);
    },
    'the id in a body is ignored: the store assigns it in POST, the path names it in PUT': async (
      service,
    ) => {
      const unused = await service.absentId();
      const created = await service.post('/book', { id: unused, title: 'a' });
      const { id } = expectBook(created, 201, 'Book created successfully', { title: 'a' });
      expectSame('the id of the body came back', id === unused, false);
      const updated = await service.put(`/book/${id}`, { id: unused, title: 'b' });
      expectBook(updated, 200, 'Book updated successfully', { id, title: 'b' });
      expectNull(await service.get(`/book/${unused}`), 404, 'Book not found');
      expectBook(await service.get(`/book/${id}`), 200, 'Book retrieved successfully', { id, title: 'b' });
    },
  },
);
