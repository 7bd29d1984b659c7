import {
  expectCreated,
  expectNull,
  expectRetrieved,
  expectSame,
  expectStored,
  expectUpdated,
} from '../expect.ts';
import { rulesOf } from '../rule.ts';
import type { Service } from '../service.ts';

/** Decisions on the `{id}` of a path, and on the ids that the service assigns. */
export const idRules = rulesOf(
  { section: 'Ids', group: 'decision' },
  {
    '404 Book not found when {id} is not digits alone, also when a lenient parser would find a book': async (
      service,
    ) => {
      const { id } = await service.createBook();
      const ids = "abc -1 1.5 %zz % NaN null %00 %ff %F0%9F%93%96 1'-- ; *".split(' ');
      const similar = [
        `${id}x`,
        `-${id}`,
        `+${id}`,
        `${id}.0`,
        `${id}e0`,
        `%20${id}`,
        `${id}%0a`,
        `${id},${id}`,
        `${id};2`,
        `${id}%2F`,
        String(id).replaceAll(/[0-9]/g, '%3$&'),
      ];
      await expectNotFound(service, [...ids, ...similar]);
      await expectStored(service, { id });
    },
    '404 Book not found when {id} is larger than any id': async (service) => {
      const { id } = await service.createBook();
      const wrapped = [64n, 32n].map((bits) => String(2n ** bits + BigInt(id)));
      const large = ['9007199254740992', '9223372036854775808', '9'.repeat(400), '1'.repeat(10_000)];
      await expectNotFound(service, ['0', ...large, ...wrapped]);
      await expectStored(service, { id });
    },
    'an {id} may have leading zeros': async (service) => {
      const book = await service.createBook();
      expectRetrieved(await service.get(`/book/000${book.id}`), book);
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
      const responses = await Promise.all(Array.from({ length: 8 }, () => service.delete(`/book/${id}`)));
      const statuses = responses.map((response) => response.status).toSorted((a, b) => a - b);
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
      if (book) await expectStored(service, book);
    },
    'the id in a body is ignored: the store assigns it in POST, the path names it in PUT': async (
      service,
    ) => {
      const unused = await service.absentId();
      const created = await service.post('/book', { id: unused, title: 'a' });
      const { id } = expectCreated(created, { title: 'a' });
      expectSame('the id is that of the body', id === unused, false);
      const updated = await service.put(`/book/${id}`, { id: unused, title: 'b' });
      expectUpdated(updated, { id, title: 'b' });
      expectNull(await service.get(`/book/${unused}`), 404, 'Book not found');
      await expectStored(service, { id, title: 'b' });
    },
  },
);

/** Passes when no method finds a book with one of these ids. */
async function expectNotFound(service: Service, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    expectNull(await service.get(`/book/${id}`), 404, 'Book not found');
    expectNull(await service.put(`/book/${id}`, { title: 'a' }), 404, 'Book not found');
    expectNull(await service.delete(`/book/${id}`), 404, 'Book not found');
  }
}
