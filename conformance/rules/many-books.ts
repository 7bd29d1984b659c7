import type { HttpResponse } from '../client.ts';
import { type Book, expectHeader, expectNull, expectOutcome, expectSame, expectStored } from '../expect.ts';
import { rulesOf } from '../rule.ts';
import type { Service } from '../service.ts';

/** Changes that `PATCH /books` cannot read, but as the second element of a valid array. */
const INVALID = [
  'null',
  '[]',
  '{}',
  '{"id":"1"}',
  '{"id":1.5}',
  '{"id":-1}',
  '{"id":9007199254740992}',
  '{"id":{id},"title":null}',
  '{"id":{id},"year":"1999"}',
  '{"id":{id},"deleted":1}',
  '{"id":{id},"deleted":true,"year":1}',
  '{"id":{id},"ifMatch":1}',
];

/** An addition to the contract: changes of many books at once. */
export const manyBooksRules = rulesOf(
  { section: 'Many books', group: 'decision', needs: 'PATCH /books' },
  {
    'PATCH /books: 200 Books updated successfully; data is the books in the order of the request, null for deleted ones':
      async (service) => {
        const [a, b, c] = await createBooks(service);
        const updated = { ...c, title: 'changed', year: 1 };
        const changes = [
          { id: c.id, Title: 'changed', year: 1, unknown: null, ifMatch: '*' },
          { id: b.id, deleted: true },
          { id: a.id, deleted: false },
        ];
        const response = await patch(service, changes);
        expectSame(response.request, expectOutcome(response, 200, UPDATED), [updated, null, a]);
        await expectStored(service, updated);
        await expectStored(service, a);
        expectNull(await service.get(`/book/${b.id}`), 404, 'Book not found');
        expectSame('[]', expectOutcome(await patch(service, []), 200, UPDATED), []);
      },
    '400 Invalid input when a change is invalid or an id occurs twice; Invalid-Index has its index, and nothing is changed':
      async (service) => {
        const [a, b] = await createBooks(service);
        for (const change of [...INVALID, `{"id":${a.id}}`]) {
          const body = `[{"id":${a.id},"title":"changed"},${change.replace('{id}', `${b.id}`)}]`;
          expectFault(await service.send('PATCH', '/books', { body }), 400, 'Invalid input', 1);
        }
        for (const body of ['', '{}', 'null'])
          expectNull(await service.send('PATCH', '/books', { body }), 400, 'Invalid input');
        await expectStored(service, a);
      },
    '404 Book not found when there is no book; Invalid-Index has its index, and nothing is changed': async (
      service,
    ) => {
      const [a] = await createBooks(service);
      const id = await service.absentId();
      for (const change of [
        { id, year: 1 },
        { id, deleted: true },
        { id, ifMatch: '"x"' },
      ]) {
        const response = await patch(service, [{ id: a.id, title: 'changed' }, change]);
        expectFault(response, 404, 'Book not found', 1);
        await expectStored(service, a);
      }
    },
    '412 Precondition failed when the book has none of the entity tags in ifMatch, as for a weak tag; nothing is changed':
      async (service) => {
        const [a, b] = await createBooks(service);
        for (const ifMatch of ['"x"', 'x', '', 'W/"x", "y"']) {
          const changes = [
            { id: a.id, title: 'changed' },
            { id: b.id, deleted: true, ifMatch },
          ];
          expectFault(await patch(service, changes), 412, 'Precondition failed', 1);
          await expectStored(service, a);
          await expectStored(service, b);
        }
      },
    'an invalid change comes before an absent book; of 404 and 412, the first element decides': async (
      service,
    ) => {
      const [a] = await createBooks(service);
      const absent = { id: await service.absentId() };
      const changed = { id: a.id, ifMatch: '"x"' };
      expectFault(await patch(service, [absent, changed, {}]), 400, 'Invalid input', 2);
      expectFault(await patch(service, [absent, changed]), 404, 'Book not found', 0);
      expectFault(await patch(service, [changed, absent]), 412, 'Precondition failed', 0);
    },
  },
);

const UPDATED = 'Books updated successfully';

async function createBooks(service: Service): Promise<[Book, Book, Book]> {
  return [await service.createBook(), await service.createBook(), await service.createBook()];
}

function patch(service: Service, changes: readonly object[]): Promise<HttpResponse> {
  return service.send('PATCH', '/books', { body: JSON.stringify(changes) });
}

function expectFault(response: HttpResponse, status: number, message: string, index: number): void {
  expectNull(response, status, message);
  expectHeader(response, 'invalid-index', new RegExp(`^${index}$`));
}
